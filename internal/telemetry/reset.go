package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// resetPause is between two resets, of which the first was refused.
const resetPause = 200 * time.Millisecond

// ResetPrefixCache has the server at a base URL forget the prompts that it has seen. A server that says that requests still hold
// blocks of its cache is asked again until ctx ends. The client brings headers and TLS.
func ResetPrefixCache(ctx context.Context, client *http.Client, base string) error {
	const path = "/reset_prefix_cache"
	for {
		done, err := reset(ctx, client, strings.TrimRight(base, "/")+path)
		var refused *refused
		switch {
		case errors.As(err, &refused) && (refused.status == http.StatusNotFound || refused.status == http.StatusMethodNotAllowed):
			return fmt.Errorf("it has no %s (%d); vLLM offers that only when started with VLLM_SERVER_DEV_MODE=1 in its environment", path, refused.status)
		case err != nil:
			return err
		case done:
			return nil
		}
		select {
		case <-time.After(resetPause):
		case <-ctx.Done():
			return errors.New("requests still hold its cache; are there other clients?")
		}
	}
}

// reset is one request; done is false if the server says that it could not.
func reset(ctx context.Context, client *http.Client, address string) (done bool, err error) {
	resp, err := do(ctx, client, http.MethodPost, address)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return false, refusal(resp)
	}
	var verdict struct{ Success *bool } // older servers send none
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	if err == nil && json.Unmarshal(body, &verdict) == nil && verdict.Success != nil {
		return *verdict.Success, nil
	}
	return true, err
}
