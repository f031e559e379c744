package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"benchtop/internal/jsonscan"
	"benchtop/internal/pyjson"
	"benchtop/internal/usage"
)

// Serving is the kind of a test of a server under load; those of the other kinds are commands that start a server
// themselves.
const Serving = "serving"

// kinds are the kinds of tests, by which their names begin.
var kinds = []string{Serving, "latency", "throughput"}

// Test is one entry of a suite, as vLLM's performance suite has them in serving-tests.json: a server, and the loads
// that it is measured at. Those of latency-tests.json and throughput-tests.json have the parameters of a command as
// Client, and no Server and Loads.
type Test struct {
	Name, Kind string
	// Server are the parameters of the server's command behind its model, Env its variables as KEY=VALUE.
	Model  string
	Server Item
	Env    []string
	Client Item
	Loads  []SuiteLoad
}

// SuiteLoad is one measurement of a test. Prompts is 0 where the client's parameters say how many.
type SuiteLoad struct {
	Rate                 string
	Concurrency, Prompts int
}

// Item are the load's parameters of the client.
func (l SuiteLoad) Item() Item {
	it := Item{}.With(RequestRate, rateJSON(l.Rate)).With(MaxConcurrency, strconv.Itoa(l.Concurrency))
	if l.Prompts > 0 {
		it = it.With(Prompts, strconv.Itoa(l.Prompts))
	}
	return it
}

// rateJSON is a rate in JSON, which has no infinity.
func rateJSON(rate string) string {
	if rate == allAtOnce {
		return `"` + rate + `"`
	}
	return rate
}

// Stem is the name of a measurement's files, without extensions.
func (t Test) Stem(l SuiteLoad) string {
	return FileName(fmt.Sprintf("%s_qps_%s_concurrency_%d", t.Name, l.Rate, l.Concurrency))
}

// ReadSuite reads a suite. getenv has the variables of the suite's script: TEST_SELECTOR, MODEL_FILTER and DTYPE_FILTER
// choose tests, PROMPTS_PER_CONCURRENCY with MIN_NUM_PROMPTS and MAX_NUM_PROMPTS sets the number of requests. The error
// has every problem.
func ReadSuite(path string, getenv func(string) string) ([]Test, error) {
	return readFile(path, func(raw []byte) ([]Test, usage.Problems) { return parseSuite(raw, getenv) })
}

func parseSuite(raw []byte, getenv func(string) string) (tests []Test, problems usage.Problems) {
	var value json.RawMessage
	if err := json.Unmarshal(raw, &value); err != nil {
		problems.Bad("%s", jsonTrouble(raw, err))
		return nil, problems
	}
	list, defaults := value, Item{}
	if value[0] == '{' {
		suite := Item(jsonscan.Dict(value))
		list = suite.Get("tests")
		if d := suite.Get("defaults"); d != nil && d[0] == '{' {
			defaults = jsonscan.Dict(d)
		}
	}
	if len(list) == 0 || list[0] != '[' {
		problems.Bad(`expected a list of tests, or {"defaults": {…}, "tests": […]}`)
		return nil, problems
	}
	chosen, err := selection(getenv)
	if err != nil {
		return nil, usage.Problems{err}
	}
	names := map[string]bool{}
	i := 0
	for entry := range jsonscan.Elements(list) {
		i++
		if entry[0] != '{' {
			problems.Bad("test %d: %s instead of an object", i, jsonscan.Kind(entry))
			continue
		}
		t, err := readTest(jsonscan.Dict(entry), defaults, getenv)
		if err != nil {
			problems.Bad("test %d %s: %w", i, usage.Quote(t.Name), err)
			continue
		}
		problems.BadIf(names[t.Name], "test %d: the test_name %s stands there twice", i, usage.Quote(t.Name))
		names[t.Name] = true
		problems.BadIf(len(tests) > 0 && tests[0].Kind != t.Kind,
			"test %d %s: tests of another kind stand before it; give each kind a file", i, usage.Quote(t.Name))
		if chosen(t) {
			tests = append(tests, t)
		}
	}
	if len(problems) == 0 && len(tests) == 0 {
		problems.Bad("no test is chosen; look at TEST_SELECTOR, MODEL_FILTER and DTYPE_FILTER")
	}
	return tests, problems
}

// selection chooses tests by the variables.
func selection(getenv func(string) string) (func(Test) bool, error) {
	selector, err := regexp.Compile(getenv("TEST_SELECTOR"))
	if err != nil {
		return nil, fmt.Errorf("TEST_SELECTOR: %w", err)
	}
	model, dtype := getenv("MODEL_FILTER"), getenv("DTYPE_FILTER")
	return func(t Test) bool {
		own := ""
		if raw := slices.Concat(t.Server, t.Client).Get("dtype"); raw != nil {
			own = pyjson.Str(raw)
		}
		return selector.MatchString(t.Name) && (model == "" || t.Model == model) && (dtype == "" || own == dtype)
	}, nil
}

// merged are the parameters of a test under a key: the defaults, and its own in their place.
func merged(key string, defaults, entry Item) (it Item, err error) {
	for _, from := range []Item{defaults, entry} {
		raw := from.Get(key)
		if raw == nil {
			continue
		}
		if raw[0] != '{' {
			return nil, fmt.Errorf("%s: expected an object, got %s", key, jsonscan.Kind(raw))
		}
		for _, m := range jsonscan.Dict(raw) {
			if !goodKey(m.Name) {
				return nil, fmt.Errorf("%s, key %s: expected a name", key, usage.Quote(m.Name))
			}
			it = it.With(m.Name, string(m.Value))
		}
	}
	return it, nil
}

func readTest(entry, defaults Item, getenv func(string) string) (t Test, err error) {
	if raw := entry.Get("test_name"); raw != nil {
		t.Name = pyjson.Str(raw)
	}
	kind, _, named := strings.Cut(t.Name, "_")
	if t.Kind = kind; !named || !slices.Contains(kinds, kind) {
		return t, errors.New("expected a test_name that begins with serving_, latency_ or throughput_")
	}
	env := Item{}
	parts := map[string]*Item{"server_parameters": &t.Server, "client_parameters": &t.Client,
		"server_environment_variables": &env}
	if t.Kind != Serving {
		parts = map[string]*Item{"parameters": &t.Client, "environment_variables": &env}
	}
	for key, to := range parts {
		if *to, err = merged(key, defaults, entry); err != nil {
			return t, err
		}
	}
	for _, m := range env {
		t.Env = append(t.Env, m.Name+"="+pyjson.Str(m.Value))
	}
	model, loads := t.Server.Get("model"), t.Client.Get("model")
	if t.Kind != Serving {
		model = loads
	}
	if model == nil || loads == nil || !equal(model, loads) {
		return t,
			errors.New("expected a model in parameters, or the same model in server_parameters and client_parameters")
	}
	if t.Model = pyjson.Str(model); t.Kind != Serving {
		return t, nil
	}
	t.Loads, err = suiteLoads(entry, defaults, t.Client, getenv)
	return t, err
}

// mostLoads bounds the measurements of a test.
const mostLoads = 10000

func suiteLoads(entry, defaults, client Item, getenv func(string) string) (loads []SuiteLoad, err error) {
	rates, err := listOf(entry, defaults, "qps_list")
	if err != nil {
		return nil, err
	}
	users, err := listOf(entry, defaults, "max_concurrency_list")
	if err != nil {
		return nil, err
	}
	if rates == nil {
		return nil, errors.New(`expected a qps_list, such as [1, 4, "inf"]`)
	}
	if users == nil {
		users = []string{strconv.Itoa(size(client, DefaultPrompts))}
	}
	if len(rates)*len(users) > mostLoads {
		return nil, fmt.Errorf("%d loads; at most %d", len(rates)*len(users), mostLoads)
	}
	for _, rate := range rates {
		if v, err := strconv.ParseFloat(rate, 64); err != nil || !(v > 0) ||
			rate != allAtOnce && !json.Valid([]byte(rate)) {
			return nil, fmt.Errorf("qps_list: %s: rate must be positive or inf", usage.Quote(rate))
		}
		for _, u := range users {
			n, err := strconv.Atoi(u)
			if err != nil || n < 1 || n > math.MaxInt32 {
				return nil, fmt.Errorf("max_concurrency_list: %s: number must be at least 1", usage.Quote(u))
			}
			prompts, err := promptsPer(n, getenv)
			if err != nil {
				return nil, err
			}
			loads = append(loads, SuiteLoad{rate, n, prompts})
		}
	}
	return loads, nil
}

// listOf are the values of a list, or one value, as texts.
func listOf(entry, defaults Item, key string) (values []string, err error) {
	raw := entry.Get(key)
	if raw == nil {
		raw = defaults.Get(key)
	}
	switch {
	case raw == nil:
		return nil, nil
	case raw[0] != '[':
		return nil, fmt.Errorf("%s: expected a list, got %s", key, jsonscan.Kind(raw))
	}
	for v := range jsonscan.Elements(raw) {
		values = append(values, pyjson.Str(v))
	}
	if values == nil {
		return nil, fmt.Errorf("%s: the list is empty", key)
	}
	return values, nil
}

// promptsPer is the number of requests at a concurrency, 0 where PROMPTS_PER_CONCURRENCY is not set.
func promptsPer(concurrency int, getenv func(string) string) (int, error) {
	number := func(name string, otherwise int) (int, error) {
		text := getenv(name)
		if text == "" {
			return otherwise, nil
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return 0, fmt.Errorf("%s=%s: expected a number of at least 1", name, usage.Quote(text))
		}
		return n, nil
	}
	if getenv("PROMPTS_PER_CONCURRENCY") == "" {
		return 0, nil
	}
	each, err1 := number("PROMPTS_PER_CONCURRENCY", 1)
	least, err2 := number("MIN_NUM_PROMPTS", 1)
	most, err3 := number("MAX_NUM_PROMPTS", 1000000)
	if err := errors.Join(err1, err2, err3); err != nil {
		return 0, err
	}
	return int(max(float64(least), min(float64(most), float64(each)*float64(concurrency)))), nil
}

// Words are an item's flags as the suite's script writes them: an empty text is a switch.
func (it Item) Words() (all []string) {
	for _, m := range it {
		if string(m.Value) == `""` {
			m.Value = []byte("true")
		}
		all = append(all, words(m.Name, m.Value)...)
	}
	return all
}
