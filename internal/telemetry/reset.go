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

// ResetPrefixCache has the server at a base URL forget the prompts that it has seen. A server that says that requests
// still hold blocks of its cache is asked again until ctx ends. The client brings headers and TLS.
func ResetPrefixCache(ctx context.Context, client *http.Client, base string) error {
	return resetCache(ctx, client, base, "/reset_prefix_cache")
}

// ResetCaches has the server at a base URL empty the caches of prompts, media and encoder, by the rules of
// ResetPrefixCache. A server with the first alone has no others to reset.
func ResetCaches(ctx context.Context, client *http.Client, base string) error {
	if err := ResetPrefixCache(ctx, client, base); err != nil {
		return err
	}
	for _, path := range []string{"/reset_mm_cache", "/reset_encoder_cache"} {
		if err := resetCache(ctx, client, base, path); err != nil && !errors.As(err, new(NoReset)) {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// NoReset is the error of a server that has no path for resetting its caches.
type NoReset struct{ error }

func resetCache(ctx context.Context, client *http.Client, base, path string) error {
	for {
		done, err := reset(ctx, client, strings.TrimRight(base, "/")+path)
		var refused *statusError
		switch {
		case errors.As(err, &refused) &&
			(refused.status == http.StatusNotFound || refused.status == http.StatusMethodNotAllowed):
			return NoReset{
				fmt.Errorf("it has no %s (%d); vLLM offers that only when started with VLLM_SERVER_DEV_MODE=1 in its "+
					"environment", path, refused.status)}
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
