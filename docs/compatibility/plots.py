"""Draws the directory of a sweep with vLLM's own `sweep plot` and `sweep plot_pareto`, and compares with benchtop's.

    plots.py SOURCES DIRECTORY BENCHTOP    several plots of both, and whether they have the same figures, panels and points
    plots.py SOURCES DIRECTORY             what vLLM draws by the arguments on standard input (JSON, a list of lists), as JSON

SOURCES is the folder that holds vllm's unpacked Python files; pandas, matplotlib and seaborn are installed. The lines are read from the
axes after seaborn drew them, those of benchtop from the data of its HTML page. Where vLLM keeps dominated points of equal throughput on
its front, benchtop does not: these are counted apart.
"""

import contextlib
import io
import json
import logging
import math
import os
import re
import subprocess
import sys
import tempfile
import types


def load(sources):
    """Imports vLLM's modules of plots; of the rest of vllm only what they import."""
    for name in ("vllm", "vllm.utils", "vllm.benchmarks", "vllm.benchmarks.sweep"):  # without their __init__, which need torch
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = [os.path.join(sources, *name.split("."))]
    sys.modules["vllm.logger"] = types.ModuleType("vllm.logger")
    sys.modules["vllm.logger"].init_logger = logging.getLogger
    import matplotlib

    matplotlib.use("Agg")
    from vllm.benchmarks.sweep import plot, plot_pareto

    plot.ProcessPoolExecutor = plot_pareto.ProcessPoolExecutor = InProcess
    return plot, plot_pareto


class InProcess:
    """Draws several figures here: in processes of their own nothing could be read back."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def map(self, f, *items):
        return list(map(f, *items))


def lines_of(figure):
    """The panels of a figure: title, the points of each line, and the bands, as x with the lower and upper end."""
    from matplotlib.collections import PolyCollection

    panels = {}
    for ax in figure.axes:
        lines = [line.get_xydata().tolist() for line in ax.get_lines() if len(line.get_xydata())]
        bands = []
        for collection in ax.collections:
            if not isinstance(collection, PolyCollection):  # such as the points of plot_pareto
                continue
            ends = {}
            for x, y in (v for path in collection.get_paths() for v in path.vertices):
                ends.setdefault(float(x), set()).add(float(y))
            bands += [[x, min(ys), max(ys)] for x, ys in ends.items() if max(ys) > min(ys)]
        panels[ax.get_title()] = {"lines": sorted([[float(x), float(y)] for x, y in line] for line in lines), "bands": sorted(bands)}
    return panels


class Drawn:
    """Keeps the panels of each figure that is saved, by the name of its file."""

    def __init__(self):
        from matplotlib.figure import Figure

        self.figures, save = {}, Figure.savefig

        def savefig(figure, path, *args, **kwargs):
            self.figures[os.path.basename(path)] = lines_of(figure)
            return save(figure, path, *args, **{**kwargs, "dpi": 30})

        Figure.savefig = savefig

    def by(self, module, command, args):
        from vllm.utils.argparse_utils import FlexibleArgumentParser

        self.figures.clear()
        parser = FlexibleArgumentParser()
        arguments = module.SweepPlotParetoArgs if command == "plot_pareto" else module.SweepPlotArgs
        arguments.add_cli_args(parser)
        said, error = io.StringIO(), ""
        with contextlib.redirect_stdout(said):
            try:
                module.main(parser.parse_args(args))
            except Exception as e:  # an error is a result
                error = f"{type(e).__name__}: {e}"
        return {"figures": dict(self.figures), "said": said.getvalue(), "error": error}


def lines(panel):
    return [curve for curve in panel["curves"] or [] if curve["line"] and curve["points"]]


def ours(benchtop, command, args):
    """What benchtop draws, from its pages."""
    with tempfile.TemporaryDirectory() as into:
        run = subprocess.run(
            [benchtop, "sweep", command, *args, "--fig-dir", into, "--format", "html"], capture_output=True, text=True, timeout=120
        )
        figures = {}
        for folder, _, names in os.walk(into):
            for name in names:
                page = open(os.path.join(folder, name), encoding="utf-8").read()
                data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])
                figures[name.removesuffix(".html") + ".png"] = {
                    panel["title"]: {
                        "lines": sorted([[p["x"], p["y"]] for p in curve["points"]] for curve in lines(panel)),
                        "bands": sorted(
                            [p["x"], p["y"] - p["spread"], p["y"] + p["spread"]]
                            for curve in lines(panel)
                            for p in curve["points"]
                            if p.get("spread")
                        ),
                    }
                    for panel in data["panels"]
                }
        return {"figures": figures, "said": run.stdout, "error": run.stderr.strip() if run.returncode else ""}


def close(a, b):
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(close(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(close, a, b))
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)


def undominated(figures):
    """Without the points of a front that another point dominates."""
    return {
        name: {
            title: {
                "lines": [[p for p in line if not any(q[0] >= p[0] and q[1] >= p[1] and q != p for q in line)] for line in panel["lines"]],
                "bands": [],
            }
            for title, panel in panels.items()
        }
        for name, panels in figures.items()
    }


# PLOTS need a sweep over max_concurrency with several runs, such as run.sh makes.
PLOTS = [
    ("plot", []),
    ("plot", ["--var-x", "max_concurrency", "--var-y", "p99_e2el_ms"]),
    ("plot", ["--var-x", "max_concurrency", "--curve-by", "random_output_len"]),
    ("plot", ["--var-x", "max_concurrency", "--col-by", "random_output_len", "--row-by", "run_number"]),
    ("plot", ["--var-x", "max_concurrency", "--fig-by", "random_output_len,run_number", "--fig-name", "F"]),
    ("plot", ["--var-x", "max_concurrency", "--filter-by", "max_concurrency>1,random_output_len==8"]),
    ("plot", ["--var-x", "output_throughput", "--var-y", "median_tpot_ms", "--bin-by", "output_throughput%50"]),
    ("plot", ["--var-x", "request_throughput", "--curve-by", "random_output_len,run_number,max_concurrency"]),
    ("plot", ["--var-x", "request_throughput", "--curve-by", "random_output_len,run_number,max_concurrency,backend"]),
    ("plot_pareto", ["--user-count-var", "max_concurrency"]),  # vLLM's default, without which ours are the users' own speeds
    ("plot_pareto", ["--user-count-var", "max_concurrent_requests", "--label-by", "max_concurrency"]),
]


def main():
    sources, directory = sys.argv[1:3]
    plot, plot_pareto = load(sources)
    drawn, modules = Drawn(), {"plot": plot, "plot_pareto": plot_pareto}
    if len(sys.argv) == 3:
        for command, *args in json.load(sys.stdin):
            print(json.dumps(drawn.by(modules[command], command, [directory, *args]), indent=1))
        return
    bad = 0
    for command, args in PLOTS:
        theirs, mine = drawn.by(modules[command], command, [directory, *args]), ours(sys.argv[3], command, [directory, *args])
        note = ""
        same = not theirs["error"] and not mine["error"] and theirs["figures"] and close(theirs["figures"], mine["figures"])
        if not same and command == "plot_pareto" and close(undominated(theirs["figures"]), mine["figures"]):
            same, note = True, ", without the dominated points of vLLM's front"
        bad += not same
        count = sum(len(line) for panels in theirs["figures"].values() for panel in panels.values() for line in panel["lines"])
        bands = sum(len(panel["bands"]) for panels in theirs["figures"].values() for panel in panels.values())
        print(f"{'same' if same else 'DIFFERS'}  {len(theirs['figures'])} figures, {count} points, {bands} with a band{note}: sweep {command} {' '.join(args)}")
        if not same:
            print("  vllm    ", json.dumps(theirs)[:1000])
            print("  benchtop", json.dumps(mine)[:1000])
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
