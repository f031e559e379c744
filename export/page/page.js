// The values at the pointer, in all charts of the run at once.
"use strict";
for (const group of document.querySelectorAll(".charts")) {
  const step = Number(group.dataset.step);
  const charts = [...group.querySelectorAll("figure")].map(figure => {
    const plot = figure.querySelector(".plot");
    const cursor = document.createElementNS("http://www.w3.org/2000/svg", "path");
    cursor.setAttribute("class", "cursor");
    plot.querySelector("svg").append(cursor);
    return {plot, cursor, output: figure.querySelector("output"), lines: JSON.parse(plot.dataset.lines)};
  });
  group.addEventListener("pointermove", e => {
    const box = charts[0].plot.getBoundingClientRect();
    const n = charts[0].lines[0].length - 1;
    const i = Math.floor((e.clientX - box.left) / box.width * n);
    for (const c of charts) {
      const on = i >= 0 && i < n;
      c.cursor.setAttribute("d", on ? `M${(i + 0.5) * 1000 / n} 0V100` : "");
      c.output.textContent = on ? `${i * step} s: ` + c.lines.map(l => `${l[0]} ${l[i + 1] ?? "-"}`).join(", ") : "";
    }
  });
  group.addEventListener("pointerleave", () => {
    for (const c of charts) {
      c.cursor.setAttribute("d", "");
      c.output.textContent = "";
    }
  });
}
