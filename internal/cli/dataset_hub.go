package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"benchtop/datasets"
	"benchtop/datasets/hub"
)

func drawHub(ctx context.Context, d *drawing) (datasets.Source, error) {
	o := d.bfclOptions()
	o.IDPrefix = d.prefix
	o.Fetch = func(ctx context.Context, name string) (string, error) { return fetchBFCL(ctx, name, d.hub) }
	return datasets.NewBFCL(ctx, o, d.means.Text, d.streams)
}

// maxBFCLFile is the largest file of the leaderboard in bytes that is fetched. The largest of today has some 5 MB.
const maxBFCLFile = 64 << 20

// fetchBFCL gets a file of the leaderboard from the hub's caches, or from the hub.
func fetchBFCL(ctx context.Context, name string, h *hub.Hub) (path string, err error) {
	repo, err := hub.ParseRepository(hub.Datasets, datasets.BFCLRepository, "")
	if err != nil {
		return "", err
	}
	path, err = h.Fetch(ctx, repo, hub.File{Name: name, Limit: maxBFCLFile, Tell: true, Check: datasets.CheckBFCL})
	if err != nil && ctx.Err() == nil && !errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s cannot be had: %w; without the hub, clone the repository elsewhere and give --dataset-path DIRECTORY --hf-name %s",
			name, err, datasets.BFCLRepository)
	}
	return path, err
}
