package startup

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// dropPages drops the clean pages of a file from the page cache, and counts the bytes of it in memory before and after.
func dropPages(path string, size int64) (before, after int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	if before, err = resident(f, size); err != nil {
		return 0, 0, err
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		return before, before, &os.PathError{Op: "fadvise", Path: path, Err: err}
	}
	after, err = resident(f, size)
	return before, after, err
}

// resident counts the bytes of a file in memory. A piece of the file is mapped at a time.
func resident(f *os.File, size int64) (bytes int64, err error) {
	const piece = 1 << 30
	page := int64(os.Getpagesize())
	for from := int64(0); from < size; from += piece {
		n := min(piece, size-from)
		mapped, err := unix.Mmap(int(f.Fd()), from, int(n), unix.PROT_READ, unix.MAP_SHARED)
		if err != nil {
			return 0, &os.PathError{Op: "mmap", Path: f.Name(), Err: err}
		}
		in := make([]byte, (n+page-1)/page)
		_, _, failed := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&mapped[0])), uintptr(n),
			uintptr(unsafe.Pointer(&in[0])))
		_ = unix.Munmap(mapped)
		if failed != 0 {
			return 0, &os.PathError{Op: "mincore", Path: f.Name(), Err: failed}
		}
		for i, b := range in {
			if b&1 != 0 {
				bytes += min(page, n-int64(i)*page)
			}
		}
	}
	return bytes, nil
}
