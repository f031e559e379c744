'use strict';
(() => {
  const element = id => document.getElementById(id);
  const data = JSON.parse(element('data').textContent);
  const { rows, classes } = data;
  const n = rows.start.length;

  // decode unpacks the segments. Those of row r are first[r] to first[r + 1]; each begins where the one before it ends.
  const first = new Uint32Array(n + 1);
  const end = new Float64Array(data.segments);
  const kind = new Uint8Array(data.segments);
  const gaps = data.joined ? new Uint32Array(data.segments).fill(1) : null;
  const decode = () => {
    const bytes = atob(element('segments').textContent);
    let p = 0;
    const varint = () => {
      let value = 0, unit = 1, b;
      do {
        b = bytes.charCodeAt(p++);
        value += (b & 127) * unit;
        unit *= 128;
      } while (b > 127);
      return value;
    };
    for (let r = 0, i = 0; r < n; r++) {
      first[r] = i;
      let at = rows.start[r];
      for (let left = rows.count[r]; left > 0; left--, i++) {
        const v = varint(), low = v % 16;
        at += (v - low) / 16;
        end[i] = at;
        kind[i] = low & 7;
        if (low & 8) gaps[i] = varint();
      }
      first[r + 1] = i;
    }
    element('segments').remove();
  };
  decode();

  // Times are in microseconds, but on the chart's axis, whose round numbers must look round on a clock: there they are in
  // milliseconds, minutes or hours.
  const unit = data.end < 180e6 ? 1e3 : data.end < 3 * 3600e6 ? 60e6 : 3600e6;
  const last = Math.max(data.end / unit, 1e3 / unit);
  const clock = us => {
    const ms = Math.round(us / 1000), pad = (x, width) => String(Math.floor(x)).padStart(width, '0');
    return pad(ms / 3600000, 2) + ':' + pad(ms / 60000 % 60, 2) + ':' + pad(ms / 1000 % 60, 2) + '.' + pad(ms % 1000, 3);
  };
  const span = us => (us / 1e6).toFixed(3) + 's';
  const title = r => 'Req ' + rows.index[r];
  const startOf = (r, i) => i === first[r] ? rows.start[r] : end[i - 1];

  // after returns the first segment of a row that ends after a time, first[r + 1] if none does.
  const after = (r, us) => {
    let low = first[r], high = first[r + 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (end[middle] > us) high = middle; else low = middle + 1;
    }
    return low;
  };

  document.title = data.about.filter(([key]) => key === 'Model').map(([, value]) => value + ': ').join('') + document.title;

  // The head of the page. All texts go in as text, never as markup.
  for (const [key, value] of data.about) {
    const line = document.createElement('div');
    line.append(Object.assign(document.createElement('dt'), { textContent: key }),
      Object.assign(document.createElement('dd'), { textContent: value }));
    element('about').append(line);
  }
  const notes = [n.toLocaleString('en') + (n === 1 ? ' request, ' : ' requests, ') +
    data.segments.toLocaleString('en') + ' segments.'];
  if (data.joined) {
    notes.push('There were too many segments to draw each: neighbouring gaps of one class' +
      (data.least > 0 ? ', and any neighbours until they reach ' + data.least / 1000 + ' ms,' : '') +
      ' are joined, and a joined segment has the colour of its mean gap.');
  }
  if (data.unsent > 0) notes.push('Never sent, so without a row: ' + data.unsent.toLocaleString('en') + '.');
  notes.push('Wheel: zoom in time. Shift and wheel: zoom in requests. Drag: move. Double click: everything.',
    'A pixel that several segments share shows the mix of their colours.');
  element('notes').textContent = notes.join(' ');

  // raster draws the visible segments into a canvas. view says where row r and time t are, in pixels of the page:
  // t at view.left + t * view.scale, the middle of row r at view.top + r * view.band.
  const canvas = document.createElement('canvas');
  const colours = classes.map(c => [1, 3, 5].map(i => parseInt(c.colour.slice(i, i + 2), 16) ** 2)); // light adds up squared
  const shown = classes.map(() => true);
  const raster = (view, area) => {
    const ratio = window.devicePixelRatio || 1;
    const width = Math.max(1, Math.round(area.width * ratio)), height = Math.max(1, Math.round(area.height * ratio));
    canvas.width = width;
    canvas.height = height;
    const context = canvas.getContext('2d');
    const image = context.createImageData(width, height), pixels = image.data;
    const scale = view.scale * ratio, left = (view.left - area.x) * ratio;
    const band = view.band * ratio, top = (view.top - area.y) * ratio;
    const bar = band >= 4 ? band * 0.8 : band; // rows have a distance as long as there is room for it
    const from = (0 - left) / scale, to = (width - left) / scale;

    // One line of sums: how much of each pixel is covered, and by which colours.
    const sums = new Float32Array(width * 4);
    let lineTop = -1, lineEnd = -1, lineRows = 0;
    const flush = () => {
      if (lineRows === 0) return;
      for (let x = 0; x < width; x++) {
        const covered = sums[4 * x + 3];
        if (covered <= 0) continue;
        // A little is always visible, however short it is.
        const alpha = 255 * (0.35 + 0.65 * Math.min(1, covered / lineRows));
        for (let y = lineTop, o = 4 * (lineTop * width + x); y < lineEnd; y++, o += 4 * width) {
          pixels[o] = Math.sqrt(sums[4 * x] / covered);
          pixels[o + 1] = Math.sqrt(sums[4 * x + 1] / covered);
          pixels[o + 2] = Math.sqrt(sums[4 * x + 2] / covered);
          pixels[o + 3] = alpha;
        }
      }
      sums.fill(0);
      lineRows = 0;
    };
    const cover = (x, share, colour) => {
      const o = 4 * x;
      sums[o] += share * colour[0];
      sums[o + 1] += share * colour[1];
      sums[o + 2] += share * colour[2];
      sums[o + 3] += share;
    };

    const lastRow = Math.min(n - 1, Math.ceil((height - top) / band));
    for (let r = Math.max(0, Math.floor(-top / band)); r <= lastRow; r++) {
      const y = Math.round(top + r * band - bar / 2);
      const y0 = Math.max(0, y), y1 = Math.min(height, Math.max(y + 1, Math.round(top + r * band + bar / 2)));
      if (y1 <= y0) continue;
      if (y0 !== lineTop) flush();
      lineTop = y0;
      lineEnd = y1;
      lineRows++;
      const parted = bar >= 6;
      let i = after(r, from), start = i < first[r + 1] ? startOf(r, i) : to;
      for (const stop = first[r + 1]; i < stop && start < to; start = end[i++]) {
        if (!shown[kind[i]]) continue;
        const colour = colours[kind[i]];
        let x0 = left + start * scale, x1 = left + end[i] * scale;
        if (parted && x1 - x0 >= 6) x1 -= ratio; // neighbours of one colour are told apart
        x0 = Math.max(0, x0);
        x1 = Math.min(width, x1);
        const a = Math.floor(x0), b = Math.min(width - 1, Math.floor(x1));
        if (a >= width) continue;
        if (a === b) {
          cover(a, Math.max(x1 - x0, 0.001), colour);
          continue;
        }
        cover(a, a + 1 - x0, colour);
        for (let x = a + 1; x < b; x++) cover(x, 1, colour);
        cover(b, x1 - b, colour);
      }
    }
    flush();
    context.putImageData(image, 0, 0);
  };

  // The chart: axes, zoom and legend are the library's, the segments one picture in it.
  const chart = echarts.init(element('chart'), null, { renderer: 'canvas' });
  let view = null, area = null, version = 0;
  const renderItem = (params, api) => {
    const zero = api.coord([0, 0]), far = api.coord([last, n]);
    area = params.coordSys;
    view = { left: zero[0], scale: (far[0] - zero[0]) / (last * unit), top: zero[1], band: (far[1] - zero[1]) / n };
    raster(view, area);
    const picture = {
      type: 'image', silent: true,
      style: { image: canvas, x: area.x, y: area.y, width: area.width, height: area.height },
    };
    return { type: 'group', silent: true, children: [picture, ...marks()] };
  };

  // marks are lines where something happened to the run, with their words as far as there is room for them.
  const marks = () => {
    const all = [], colour = getComputedStyle(document.documentElement).getPropertyValue('--text').trim();
    let free = -Infinity;
    for (const mark of data.marks || []) {
      const x = Math.round(view.left + mark.at * view.scale) + 0.5;
      if (x < area.x || x > area.x + area.width) continue;
      all.push({ type: 'line', silent: true, z2: 1, shape: { x1: x, y1: area.y, x2: x, y2: area.y + area.height },
        style: { stroke: colour, lineWidth: 1, lineDash: [4, 3], opacity: 0.7 } });
      const words = mark.name.length > 24 ? mark.name.slice(0, 23) + '…' : mark.name;
      if (x < free) continue;
      free = x + 12 + 7 * words.length;
      all.push({ type: 'text', silent: true, z2: 2,
        style: { text: words, x: x + 4, y: area.y + area.height - 4, verticalAlign: 'bottom', fill: colour, fontSize: 11 } });
    }
    return all;
  };
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const option = () => {
    const css = getComputedStyle(document.documentElement), pick = name => css.getPropertyValue(name).trim();
    const text = pick('--text'), quiet = pick('--quiet'), line = pick('--line');
    const axis = {
      nameLocation: 'middle', nameTextStyle: { color: text, fontSize: 13 },
      axisLabel: { color: quiet, hideOverlap: true, showMaxLabel: false },
      axisLine: { show: true, onZero: false, lineStyle: { color: line } },
      axisTick: { show: true, lineStyle: { color: line } },
    };
    const slider = { type: 'slider', filterMode: 'none', showDataShadow: false, throttle: 60, brushSelect: false,
      borderColor: line, textStyle: { color: quiet } };
    const used = classes.filter(c => c.used);
    return {
      animation: false,
      backgroundColor: 'transparent',
      textStyle: { color: text, fontFamily: 'system-ui, sans-serif' },
      grid: { left: 100, right: 60, top: 44, bottom: 92, containLabel: false },
      legend: { top: 6, data: used.map(c => c.name), textStyle: { color: text }, inactiveColor: line,
        icon: 'rect', itemWidth: 14, itemHeight: 10 },
      xAxis: { ...axis, type: 'value', name: 'Time', nameGap: 28, min: 0, max: last,
        splitLine: { lineStyle: { color: line, opacity: 0.6 } },
        axisLabel: { ...axis.axisLabel, formatter: x => clock(x * unit) } },
      yAxis: { ...axis, type: 'value', name: 'Request ID', nameGap: 78, inverse: true,
        min: -0.5, max: n - 0.5, minInterval: 1, splitNumber: 12, splitLine: { show: false },
        axisLabel: { ...axis.axisLabel, showMinLabel: false,
          formatter: r => Number.isInteger(r) && r >= 0 && r < n ? title(r) : '' } },
      dataZoom: [
        { ...slider, xAxisIndex: 0, bottom: 12, height: 20, labelFormatter: x => clock(x * unit) },
        { ...slider, yAxisIndex: 0, right: 14, width: 18, showDetail: false },
        { type: 'inside', xAxisIndex: 0, filterMode: 'none', throttle: 60, minValueSpan: 1e3 / unit },
        { type: 'inside', yAxisIndex: 0, filterMode: 'none', throttle: 60, zoomOnMouseWheel: 'shift', minValueSpan: 3 },
      ],
      series: [
        ...classes.map(c => ({ type: 'custom', name: c.name, data: [], color: c.colour, renderItem: () => null })),
        { type: 'custom', id: 'segments', data: [[0, 0]], clip: true, silent: true, z: 2, renderItem },
      ],
    };
  };
  const redraw = () => chart.setOption({ series: [{ id: 'segments', data: [[0, 0, ++version]] }] });
  const fit = () => {
    const room = window.innerHeight - element('chart').getBoundingClientRect().top - window.scrollY - 16;
    element('chart').style.height = Math.max(320, Math.min(room, 160 + 40 * n)) + 'px';
    chart.resize();
  };
  fit();
  chart.setOption(option());
  window.addEventListener('resize', fit);
  dark.addEventListener('change', () => chart.setOption(option()));
  chart.on('legendselectchanged', e => {
    classes.forEach((c, i) => { shown[i] = e.selected[c.name] !== false; });
    redraw();
  });

  // The box at the pointer.
  const hover = element('hover');
  const hide = () => { hover.hidden = true; };
  const segmentAt = (x, y) => {
    if (!view || x < area.x || x > area.x + area.width || y < area.y || y > area.y + area.height) return null;
    const r = Math.round((y - view.top) / view.band), us = (x - view.left) / view.scale;
    if (r < 0 || r >= n || us < rows.start[r]) return null;
    const i = after(r, us);
    return i < first[r + 1] && shown[kind[i]] ? [r, i] : null;
  };
  const show = (r, i, x, y) => {
    const start = startOf(r, i), count = gaps ? gaps[i] : 1;
    const lines = [
      ['Type', classes[kind[i]].name], ['Start', clock(start)], ['End', clock(end[i])],
      ['Duration', span(end[i] - start) +
        (count > 1 ? ' (' + count + ' gaps, mean ' + span((end[i] - start) / count) + ')' : '')],
      ['Prompt Tokens', rows.input[r]], ['Output Tokens', rows.output[r]],
      ['Request Start Time', clock(rows.start[r])], ['Request End Time', clock(rows.finish[r])],
    ];
    if (rows.tpot[r]) lines.push(['Output Speed', (1e6 / rows.tpot[r]).toFixed(1) + ' tok/s/user']);
    if (rows.tokenITL[r]) lines.push(['Mean per-token ITL', (rows.tokenITL[r] / 1e3).toFixed(2) + 'ms']);
    if (rows.ids && rows.ids[r]) lines.push(['ID', rows.ids[r]]);
    if (rows.models && rows.models[r]) lines.push(['Model', rows.models[r]]);
    if (rows.failures[r]) lines.push(['Failure', rows.failures[r]]);
    const head = document.createElement('b');
    head.textContent = title(r);
    hover.replaceChildren(head);
    lines.forEach(([key, value], k) => {
      const line = document.createElement('div'), name = document.createElement('span');
      name.textContent = key;
      line.append(name);
      if (k === 0) {
        const patch = document.createElement('i');
        patch.style.background = classes[kind[i]].colour;
        line.append(patch);
      }
      line.append(String(value));
      hover.append(line);
    });
    hover.hidden = false;
    const box = hover.getBoundingClientRect(), chartBox = element('chart').getBoundingClientRect();
    const px = chartBox.left + x, py = chartBox.top + y;
    hover.style.left = Math.max(4, px + 16 + box.width > window.innerWidth ? px - box.width - 16 : px + 16) + 'px';
    hover.style.top = Math.max(4, Math.min(py + 12, window.innerHeight - box.height - 4)) + 'px';
  };
  chart.getZr().on('mousemove', e => {
    const hit = segmentAt(e.offsetX, e.offsetY);
    if (hit) show(hit[0], hit[1], e.offsetX, e.offsetY); else hide();
  });
  chart.getZr().on('globalout', hide);
  chart.getZr().on('dblclick', () => [0, 1].forEach(i =>
    chart.dispatchAction({ type: 'dataZoom', dataZoomIndex: i, start: 0, end: 100 })));
  chart.on('datazoom', hide);
})();
