'use strict';
(() => {
  const element = id => document.getElementById(id);
  const data = JSON.parse(element('data').textContent);
  if (data.title) document.title = data.title;
  element('title').textContent = data.title || data.y.label + ' by ' + data.x.label;
  element('notes').textContent = [...data.notes, 'Pointer on a point: all its fields. Wheel: zoom. Drag: move. Double click: everything.'].join(' ');

  // The library has linear and logarithmic axes. On other scales the values are moved, and the labels of the axis moved back.
  const moved = {
    sqrt: [v => Math.sqrt(v), p => p * Math.abs(p)],
    symlog: [v => Math.asinh(v), p => Math.sinh(p)],
  };
  const same = v => v;
  const [moveX, backX] = moved[data.x.scale] || [same, same];
  const [moveY, backY] = moved[data.y.scale] || [same, same];
  const number = v => {
    if (!Number.isFinite(v)) return '';
    const a = Math.abs(v);
    for (const [size, name] of [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']]) {
      if (a >= size && a >= 1e4) return +(v / size).toPrecision(4) + name;
    }
    return String(+v.toPrecision(4));
  };

  const columns = data.columns, rows = Math.max(1, Math.ceil(data.panels.length / columns));
  const names = [...new Set(data.panels.flatMap(p => (p.curves || []).map(c => c.name)))].filter(name => name);
  const chart = echarts.init(element('chart'), null, { renderer: 'canvas' });
  const points = new Map(); // by series and index

  // band draws the area of the spread around a curve as one polygon.
  const band = (curve, i) => ({
    type: 'custom', name: curve.name, xAxisIndex: i, yAxisIndex: i, silent: true, clip: true, z: 1, data: [[0, 0]],
    renderItem: (params, api) => {
      const at = (p, sign) => api.coord([moveX(p.x), moveY(p.y + sign * (p.spread || 0))]);
      const corners = [...curve.points.map(p => at(p, 1)), ...curve.points.map(p => at(p, -1)).reverse()];
      return corners.flat().every(Number.isFinite)
        ? { type: 'polygon', shape: { points: corners }, style: { fill: curve.colour, opacity: 0.16 }, silent: true } : null;
    },
  });
  const series = (text) => data.panels.flatMap((panel, i) => (panel.curves || []).flatMap((curve, k) => {
    const id = i + '/' + k;
    points.set(id, { curve, panel });
    const all = [{
      id, type: curve.line ? 'line' : 'scatter', name: curve.name, xAxisIndex: i, yAxisIndex: i, color: curve.colour,
      z: curve.quiet ? 1 : 3, symbol: 'circle', symbolSize: curve.quiet ? 6 : 8, showAllSymbol: true, clip: true,
      lineStyle: { width: curve.width, type: curve.dash && curve.dash.length ? curve.dash : 'solid' },
      itemStyle: { opacity: curve.quiet ? 0.7 : 1 },
      label: { show: curve.points.some(p => p.label), position: 'right', color: text, fontSize: 11, lineHeight: 14,
        formatter: p => curve.points[p.dataIndex].label || '' },
      labelLayout: { hideOverlap: true, moveOverlap: 'shiftY' },
      data: curve.points.map(p => [moveX(p.x), moveY(p.y)]),
    }];
    if (curve.line && curve.points.some(p => p.spread > 0)) all.push(band(curve, i));
    return all;
  }));

  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const option = () => {
    const style = getComputedStyle(document.documentElement), colour = name => style.getPropertyValue(name).trim();
    const text = colour('--text'), quiet = colour('--quiet'), line = colour('--line');
    const width = element('chart').clientWidth, height = element('chart').clientHeight;
    const legend = names.length > 1 ? 34 : 8;
    const wide = width / columns, high = (height - legend) / rows;
    const axis = (of, move, back, i, more) => ({
      gridIndex: i, name: of.label, nameLocation: 'middle', nameTextStyle: { color: text },
      type: of.categories ? 'category' : of.scale === 'log' ? 'log' : 'value', data: of.categories, scale: true,
      min: of.categories ? null : move(of.from), max: of.categories ? null : move(of.to),
      axisLine: { show: true, lineStyle: { color: quiet } }, axisTick: { show: true, lineStyle: { color: quiet } },
      splitLine: { show: true, lineStyle: { color: line, opacity: 0.6 } },
      axisLabel: { color: quiet, hideOverlap: true, showMinLabel: of.from === 0, showMaxLabel: false,
        formatter: of.categories ? null : v => number(back(v)) },
      ...more,
    });
    const each = f => data.panels.map((panel, i) => f(panel, i, (i % columns) * wide, legend + Math.floor(i / columns) * high));
    const all = data.panels.map((_, i) => i);
    return {
      animation: false, backgroundColor: 'transparent', textStyle: { color: text, fontFamily: 'system-ui, sans-serif' },
      legend: { show: names.length > 1, type: 'scroll', top: 2, data: names, textStyle: { color: text }, inactiveColor: line, pageTextStyle: { color: quiet } },
      title: each((panel, i, x, y) => ({ text: panel.title.replaceAll('\n', ', '), left: x + wide / 2, top: y + 2, textAlign: 'center',
        textStyle: { color: text, fontSize: 12, width: wide - 40, overflow: 'truncate' } })).concat(
        each((panel, i, x, y) => ({ show: !(panel.curves || []).some(c => c.points.length), text: 'no data', left: x + wide / 2, top: y + high / 2,
          textAlign: 'center', textStyle: { color: quiet, fontSize: 13, fontWeight: 'normal' } }))),
      grid: each((panel, i, x, y) => ({ left: x + 78, top: y + (panel.title ? 26 : 12), width: wide - 104, height: high - (panel.title ? 26 : 12) - 52 })),
      xAxis: data.panels.map((_, i) => axis(data.x, moveX, backX, i, { nameGap: 28 })),
      yAxis: data.panels.map((_, i) => axis(data.y, moveY, backY, i, { nameGap: 54 })),
      dataZoom: [
        { type: 'inside', xAxisIndex: all, filterMode: 'none', throttle: 60 },
        { type: 'inside', yAxisIndex: all, filterMode: 'none', throttle: 60 },
      ],
      series: series(text),
    };
  };
  const fit = () => {
    const room = window.innerHeight - element('chart').getBoundingClientRect().top - window.scrollY - 16;
    element('chart').style.height = Math.max(rows === 1 ? Math.min(room, 760) : Math.min(room, 420 * rows), 300 * rows) + 'px';
    chart.resize();
    chart.setOption(option(), { replaceMerge: ['grid'] });
  };
  fit();
  window.addEventListener('resize', fit);
  dark.addEventListener('change', fit);

  // The box at the pointer. All texts go in as text, never as markup.
  const hover = element('hover');
  const put = (parent, key, value, colour) => {
    const line = document.createElement('div'), name = document.createElement('span');
    name.textContent = key;
    line.append(name);
    if (colour) line.append(Object.assign(document.createElement('i'), { style: 'background:' + colour }));
    line.append(value);
    parent.append(line);
  };
  const hide = () => { hover.hidden = true; };
  chart.on('mouseover', e => {
    const of = points.get(e.seriesId);
    if (!of || e.dataIndex === undefined) return;
    const { curve, panel } = of, p = curve.points[e.dataIndex];
    hover.replaceChildren();
    if (panel.title) put(hover, 'panel', panel.title.replaceAll('\n', ', '));
    if (curve.name) put(hover, 'curve', curve.name, curve.colour);
    put(hover, data.x.label, data.x.categories ? data.x.categories[p.x] : String(+p.x.toPrecision(6)));
    put(hover, data.y.label, String(+p.y.toPrecision(6)) + (p.spread > 0 ? ' ± ' + p.spread.toPrecision(3) : ''));
    const fields = document.createElement('div');
    fields.className = p.fields.length > 12 ? 'fields' : 'fields few';
    for (const [key, value] of p.fields) put(fields, key, value);
    hover.append(fields);
    hover.hidden = false;
    const box = hover.getBoundingClientRect(), at = e.event.event;
    hover.style.left = Math.max(4, at.clientX + 16 + box.width > window.innerWidth ? at.clientX - box.width - 16 : at.clientX + 16) + 'px';
    hover.style.top = Math.max(4, Math.min(at.clientY + 12, window.innerHeight - box.height - 4)) + 'px';
  });
  chart.on('mouseout', hide);
  chart.on('datazoom', hide);
  chart.getZr().on('dblclick', () => [0, 1].forEach(i => chart.dispatchAction({ type: 'dataZoom', dataZoomIndex: i, start: 0, end: 100 })));
})();
