package telemetry

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"benchtop/internal/assert"
)

// gpuWatcher is the environment variable that makes TestWatchGPUsKilled the killed process; its value is the path of
// the tool.
const gpuWatcher = "BENCHTOP_TEST_GPU_TOOL"

// The tool ends with this process, however that ends.
func TestWatchGPUsKilled(t *testing.T) {
	if path := os.Getenv(gpuWatcher); path != "" {
		w, err := WatchGPUs(t.Context(), GPUOptions{tools: []string{path}, every: 10 * ms})
		assert.Fine(t, err)
		defer w.Close()
		<-w.Seconds()
		fmt.Println("ready")
		time.Sleep(time.Minute)
		return
	}
	path, pids := fakeTool(t, "nvidia-smi", "echo '0, "+fakeLine+"'; exec sleep 1000")
	c := exec.Command(os.Args[0], "-test.run", "^TestWatchGPUsKilled$")
	c.Env = append(os.Environ(), gpuWatcher+"="+path)
	out, err := c.StdoutPipe()
	assert.Fine(t, err)
	assert.Fine(t, c.Start())
	said := make([]byte, 5)
	if _, err := out.Read(said); err != nil || string(said) != "ready" {
		t.Errorf("the watcher said %q, %v", said, err)
	}
	_ = c.Process.Kill()
	_ = c.Wait()
	allGone(t, pids)
}
