package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"benchtop/internal/assert"
)

// kubernetesJob has the fields of a Job of batch/v1 that the manifest may have, as Kubernetes spells them.
type kubernetesJob struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
	Metadata   struct {
		Name   string            `yaml:"name"`
		Labels map[string]string `yaml:"labels"`
	} `yaml:"metadata"`
	Spec struct {
		CompletionMode string `yaml:"completionMode"`
		Completions    int    `yaml:"completions"`
		Parallelism    int    `yaml:"parallelism"`
		BackoffLimit   *int   `yaml:"backoffLimit"`
		Template       struct {
			Metadata struct {
				Labels map[string]string `yaml:"labels"`
			} `yaml:"metadata"`
			Spec kubernetesPod `yaml:"spec"`
		} `yaml:"template"`
	} `yaml:"spec"`
}

// kubernetesPod has the fields of a PodSpec of v1.
type kubernetesPod struct {
	RestartPolicy                 string `yaml:"restartPolicy"`
	AutomountServiceAccountToken  *bool  `yaml:"automountServiceAccountToken"`
	TerminationGracePeriodSeconds int    `yaml:"terminationGracePeriodSeconds"`
	SecurityContext               struct {
		RunAsNonRoot   bool              `yaml:"runAsNonRoot"`
		RunAsUser      int               `yaml:"runAsUser"`
		FSGroup        int               `yaml:"fsGroup"`
		SeccompProfile map[string]string `yaml:"seccompProfile"`
	} `yaml:"securityContext"`
	TopologySpreadConstraints []struct {
		MaxSkew           int    `yaml:"maxSkew"`
		TopologyKey       string `yaml:"topologyKey"`
		WhenUnsatisfiable string `yaml:"whenUnsatisfiable"`
		LabelSelector     struct {
			MatchLabels map[string]string `yaml:"matchLabels"`
		} `yaml:"labelSelector"`
	} `yaml:"topologySpreadConstraints"`
	Containers []struct {
		Name  string   `yaml:"name"`
		Image string   `yaml:"image"`
		Args  []string `yaml:"args"`
		Env   []struct {
			Name      string `yaml:"name"`
			Value     string `yaml:"value"`
			ValueFrom struct {
				SecretKeyRef struct {
					Name     string `yaml:"name"`
					Key      string `yaml:"key"`
					Optional bool   `yaml:"optional"`
				} `yaml:"secretKeyRef"`
			} `yaml:"valueFrom"`
		} `yaml:"env"`
		Resources struct {
			Requests map[string]string `yaml:"requests"`
			Limits   map[string]string `yaml:"limits"`
		} `yaml:"resources"`
		SecurityContext struct {
			AllowPrivilegeEscalation *bool               `yaml:"allowPrivilegeEscalation"`
			ReadOnlyRootFilesystem   bool                `yaml:"readOnlyRootFilesystem"`
			Capabilities             map[string][]string `yaml:"capabilities"`
		} `yaml:"securityContext"`
		VolumeMounts []struct {
			Name      string `yaml:"name"`
			MountPath string `yaml:"mountPath"`
			ReadOnly  bool   `yaml:"readOnly"`
		} `yaml:"volumeMounts"`
	} `yaml:"containers"`
	Volumes []struct {
		Name                  string `yaml:"name"`
		PersistentVolumeClaim *struct {
			ClaimName string `yaml:"claimName"`
		} `yaml:"persistentVolumeClaim"`
		Secret *struct {
			SecretName  string `yaml:"secretName"`
			DefaultMode int    `yaml:"defaultMode"`
		} `yaml:"secret"`
		EmptyDir *struct{} `yaml:"emptyDir"`
	} `yaml:"volumes"`
}

// The manifest has no field that a Job lacks, its numbers of machines agree, and benchtop takes its arguments.
func TestKubernetesJobs(t *testing.T) {
	manifest := assert.Must(os.ReadFile("../../deploy/kubernetes-job.yaml"))(t)
	join := filepath.Join(t.TempDir(), "join")
	d := yaml.NewDecoder(bytes.NewReader(manifest))
	d.KnownFields(true)
	ways := map[string]bool{}
	for {
		var j kubernetesJob
		if err := d.Decode(&j); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		ways[j.Metadata.Labels["way"]] = true
		n, pod := j.Spec.Completions, j.Spec.Template.Spec
		if j.APIVersion != "batch/v1" || j.Kind != "Job" || j.Spec.CompletionMode != "Indexed" ||
			n != j.Spec.Parallelism || j.Spec.BackoffLimit == nil || *j.Spec.BackoffLimit != 0 ||
			pod.RestartPolicy != "Never" || len(pod.Containers) != 1 {
			t.Errorf("%s: %+v", j.Metadata.Name, j)
		}
		volumes := map[string]bool{}
		for _, v := range pod.Volumes {
			volumes[v.Name] = true
		}
		for _, m := range pod.Containers[0].VolumeMounts {
			if !volumes[m.Name] {
				t.Errorf("%s: no volume %s", j.Metadata.Name, m.Name)
			}
		}
		t.Setenv("JOB_COMPLETION_INDEX", strconv.Itoa(n-1)) // the last pod
		t.Setenv("OPENAI_API_KEY", "canary")
		args := strings.ReplaceAll(strings.Join(pod.Containers[0].Args, "\n"), "/join/join", join)
		if strings.HasPrefix(args, "serve") {
			if !strings.Contains(args, "--part=auto/"+strconv.Itoa(n)+"\n") {
				t.Errorf("%s: %d pods, %s", j.Metadata.Name, n, args)
			}
			// A wrong value of another flag keeps the command from more than looking at its flags.
			r := benchtop(append(strings.Split(args, "\n"), "--gpu-price", "-1")...)
			if r.expect(t, 2, "--gpu-price"); strings.Count(r.stderr, "\n") != 1 {
				t.Error(r.stderr)
			}
		} else {
			benchtop(strings.Split(args, "\n")...).expect(t, 2, "--join: open "+join)
		}
	}
	if !ways["parts"] || !ways["workers"] || len(ways) != 2 {
		t.Errorf("ways %v", ways)
	}
}
