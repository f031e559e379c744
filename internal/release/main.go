// Command release builds what people install: static binaries, archives of them, Python wheels, Debian packages, a list
// of the modules within, and checksums, all in dist.
package main

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// platform is a system that binaries are built for. The wheel has the tags of Python's packaging.
type platform struct{ os, arch, wheel string }

var platforms = []platform{
	{"linux", "amd64", "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64"},
	{"linux", "arm64", "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64"},
	{"darwin", "amd64", "macosx_12_0_x86_64"},
	{"darwin", "arm64", "macosx_12_0_arm64"},
	{"windows", "amd64", "win_amd64"},
	{"windows", "arm64", "win_arm64"},
}

// tools of other projects, with their versions.
const (
	nfpm      = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.4"
	cyclonedx = "github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.9.0"
)

func main() {
	dist := flag.String("dist", "dist", "folder of what is built, emptied first")
	only := flag.String("only", "", "build for this platform alone, as linux/amd64")
	flag.Parse()
	if err := release(*dist, *only); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func release(dist, only string) error {
	b := build{version: versionOf(git("describe", "--tags", "--always", "--dirty")), commit: git("rev-parse", "HEAD")}
	var err error
	if b.date, err = time.Parse(time.RFC3339, git("log", "-1", "--format=%cI")); err != nil {
		return fmt.Errorf("the date of the commit: %w", err)
	}
	if err := os.RemoveAll(dist); err != nil {
		return err
	}
	if err := os.MkdirAll(dist, 0o755); err != nil {
		return err
	}
	var binary string
	for _, p := range platforms {
		if only != "" && only != p.os+"/"+p.arch {
			continue
		}
		if binary, err = p.build(dist, b); err != nil {
			return fmt.Errorf("%s/%s: %w", p.os, p.arch, err)
		}
	}
	sbom := filepath.Join(dist, "benchtop-"+b.version+".cdx.json")
	err = run(nil, "go", "run", cyclonedx, "bin", "-json", "-version", b.version, "-output", sbom, binary)
	if err != nil {
		return err
	}
	return checksums(dist)
}

// build is what a release is made of.
type build struct {
	version, commit string
	date            time.Time // of the commit
}

// build makes the binary of a platform, and what holds it.
func (p platform) build(dist string, b build) (binary string, err error) {
	name := "benchtop"
	if p.os == "windows" {
		name += ".exe"
	}
	folder := filepath.Join(dist, fmt.Sprintf("benchtop-%s-%s-%s", b.version, p.os, p.arch))
	binary = filepath.Join(folder, name)
	err = run([]string{"CGO_ENABLED=0", "GOOS=" + p.os, "GOARCH=" + p.arch}, "go", "build", "-trimpath",
		"-ldflags", fmt.Sprintf("-s -w -X %[1]srelease=%s -X %[1]scommit=%s -X %[1]sdate=%s",
			"benchtop/internal/session.", b.version, b.commit, b.date.UTC().Format(time.RFC3339)), "-o", binary, ".")
	if err != nil {
		return "", err
	}
	var all []file
	for _, path := range []string{binary, "README.md", "LICENSE", "NOTICE"} {
		f, err := read(path, filepath.Base(path))
		if err != nil {
			return "", err
		}
		all = append(all, f)
	}
	if p.os == "linux" {
		if err := p.debian(dist, binary, b); err != nil {
			return "", err
		}
	}
	archive := writeTar
	if p.os == "windows" {
		archive = writeZip
	}
	return binary, errors.Join(archive(folder, all, b.date), writeWheel(dist, p.wheel, b.version, all, b.date))
}

// debian makes the package for Debian and its relatives, with the manual page and the completions.
func (p platform) debian(dist, binary string, b build) error {
	made, err := os.MkdirTemp("", "benchtop-release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(made)
	for name, words := range map[string][]string{"benchtop.1": {"man"}, "bash": {"completion", "bash"},
		"zsh": {"completion", "zsh"}, "fish": {"completion", "fish"}} {
		page, err := exec.Command("go", append([]string{"run", "."}, words...)...).Output()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(made, name), page, 0o644); err != nil {
			return err
		}
	}
	return run([]string{"VERSION=" + b.version, "ARCH=" + p.arch, "BINARY=" + binary, "MADE=" + made,
		"SOURCE_DATE_EPOCH=" + fmt.Sprint(b.date.Unix())},
		"go", "run", nfpm, "package", "--config", "internal/release/nfpm.yaml", "--packager", "deb", "--target", dist)
}

// tag is the tag of a release, with the commits since.
var tag = regexp.MustCompile(`^v(\d+\.\d+\.\d+)(?:-(\d+)-g([0-9a-f]+))?(-dirty)?$`)

// versionOf is the version by what git describes, as Python's packaging takes it too (PEP 440): that of a tag, or a
// development version of the commit.
func versionOf(described string) string {
	local := strings.ReplaceAll(strings.TrimPrefix(described, "v"), "-", ".")
	switch parts := tag.FindStringSubmatch(described); {
	case parts == nil:
		return "0.0.0.dev0+g" + local
	case parts[2] == "" && parts[4] == "":
		return parts[1]
	case parts[2] == "":
		return parts[1] + "+dirty"
	default:
		return fmt.Sprintf("%s.post%s.dev0+g%s%s", parts[1], parts[2], parts[3], strings.ReplaceAll(parts[4], "-", "."))
	}
}

// checksums writes the SHA-256 of each file of a folder, as sha256sum does.
func checksums(dist string) error {
	entries, err := os.ReadDir(dist)
	if err != nil {
		return err
	}
	var lines []string
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dist, e.Name()))
		if err != nil {
			return err
		}
		lines = append(lines, fmt.Sprintf("%x  %s\n", sha256.Sum256(content), e.Name()))
	}
	slices.Sort(lines)
	return os.WriteFile(filepath.Join(dist, "SHA256SUMS"), []byte(strings.Join(lines, "")), 0o644)
}

func git(words ...string) string {
	out, _ := exec.Command("git", words...).Output() // what is not known stays empty
	return strings.TrimSpace(string(out))
}

func run(env []string, name string, words ...string) error {
	c := exec.Command(name, words...)
	c.Env = append(os.Environ(), env...)
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(words, " "), err)
	}
	return nil
}
