// Plots of runs over time. The data are in the script `runs`, packed as plots.rs has it; uPlot draws.
// Without scripts the page has all figures in tables.
(() => {
  "use strict";
  const { runs, first } = JSON.parse(document.getElementById("runs").textContent);
  const MOST_SHOWN = 6;
  const at = (id) => document.getElementById(id);

  // --- Numbers, unpacked when they are first looked at ---
  const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const unpacked = new Map();
  function numbers(row) {
    if (!unpacked.has(row)) {
      const scale = (n) => (n / 65535) * row.most;
      unpacked.set(row, row.bytes !== undefined ? Array.from(bytes(row.bytes))
        : row.floats !== undefined ? Array.from(new Float32Array(bytes(row.floats).buffer))
        : Array.from(new Uint16Array(bytes(row.data).buffer), scale));
    }
    return unpacked.get(row);
  }
  // The middle of each bin, in seconds.
  const times = (run) => numbers(run.read).map((_, n) => (n + 0.5) * run.bin);
  // A logarithm has no zero.
  const above = (values) => values.map((value) => (value > 0 ? value : null));
  const sum = (a, b) => a.map((value, n) => value + b[n]);

  // --- Colours ---
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const LIGHT = ["#2f6fa8", "#b8571c", "#2d7d4f", "#8a4a9e", "#a83a4b", "#3c8587", "#7a6a1e", "#6a5acd", "#9b5d3a", "#5a7f2c", "#a2457f", "#4d6b75"];
  const DARK = ["#6aaee6", "#f0965a", "#62c48d", "#c58adb", "#e77a8b", "#6ec6c8", "#cdbb5f", "#a99cf5", "#d79a73", "#a3cf6b", "#e38cc0", "#9db8c2"];
  const colour = (n) => (dark.matches ? DARK : LIGHT)[n % LIGHT.length];
  const named = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  // A process has one colour on the whole page.
  const owners = [];
  for (const run of runs) for (const name of run.processes) if (!owners.includes(name)) owners.push(name);
  owners.sort((a, b) => (parseInt(a.match(/(\d+)\)?$/)?.[1] ?? "0", 10)) - (parseInt(b.match(/(\d+)\)?$/)?.[1] ?? "0", 10)));
  const owned = (name) => (name === "others" ? named("--soft") : colour(owners.indexOf(name)));

  // --- Which schedulers are shown: each in a slot, which has a colour ---
  const slots = [];
  for (const name of first) slots.push(runs.find((run) => run.name === name));
  const shown = () => slots.filter(Boolean);
  function choose(run, wanted) {
    const place = wanted ? [...slots, undefined].findIndex((slot) => !slot) : slots.indexOf(run);
    slots[place] = wanted ? run : undefined;
    update();
  }
  function chips() {
    for (const run of runs) {
      const label = document.createElement("label");
      const box = document.createElement("input");
      box.type = "checkbox";
      box.addEventListener("change", () => choose(run, box.checked));
      label.append(box, " ", run.name);
      at("shown").append(label);
    }
  }
  function mark() {
    at("shown").querySelectorAll("label").forEach((label, n) => {
      const slot = slots.indexOf(runs[n]);
      const box = label.firstChild;
      box.checked = slot >= 0;
      box.disabled = slot < 0 && shown().length >= MOST_SHOWN;
      label.style.borderColor = slot >= 0 ? colour(slot) : "";
      label.classList.toggle("on", slot >= 0);
    });
  }

  // --- Axes ---
  const short = (value) => String(+value.toPrecision(3));
  const millis = (value) => value >= 1000 ? `${short(value / 1000)} s` : value >= 1 ? `${short(value)} ms` : `${short(value * 1000)} µs`;
  const isDecade = (value) => Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-6;
  // Of a logarithmic axis, only powers of ten have lines.
  function axis(label, values, size, log) {
    const filter = (_, all) => all.map((value) => (!log || isDecade(value) ? value : null));
    const line = { stroke: named("--rule"), width: 1, filter };
    return { stroke: named("--soft"), grid: line, ticks: { ...line, size: 4 }, label, labelSize: 18, gap: 4, size,
      font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif", values: values && ((_, all) => all.map((value) => value === null ? "" : values(value))) };
  }
  const decades = (say) => (value) => (isDecade(value) ? say(value) : "");

  const plots = [];
  const height = () => (innerWidth < 500 ? 200 : 240);
  function draw(element, options, data) {
    const width = () => Math.max(element.clientWidth, 200);
    const plot = new uPlot({ width: width(), height: height(), ...options }, data, element);
    const name = element.closest("figure").querySelector("figcaption").firstElementChild.textContent;
    plot.root.querySelector("canvas").setAttribute("role", "img");
    plot.root.querySelector("canvas").setAttribute("aria-label", `Plot: ${name}`);
    const sized = new ResizeObserver(() => plot.setSize({ width: width(), height: height() }));
    sized.observe(element);
    plots.push(() => { sized.disconnect(); plot.destroy(); });
  }

  // --- One line for each scheduler ---
  function lines(id, { points, x, y, scales, sync }) {
    const all = slots.map((run, slot) => run && { run, slot, table: points(run) }).filter((one) => one && one.table[0].length);
    if (!all.length) return;
    const line = ({ run, slot }) => ({ label: run.name, stroke: colour(slot), width: 1.6, spanGaps: true, points: { show: false },
      value: (_, value) => (value == null ? "–" : (y.say ?? short)(value)) });
    draw(at(id), {
      scales, axes: [axis(...x.axis), axis(...y.axis)],
      series: [{ label: x.name, value: (_, value) => (value == null ? "–" : x.say(value)) }, ...all.map(line)],
      cursor: sync ? { sync: { key: "time" } } : {},
    }, uPlot.join(all.map((one) => one.table)));
  }
  const seconds = { name: "time", say: (value) => `${short(value)} s`, axis: ["seconds", short, 26] };
  function overTime() {
    const linear = { x: { time: false }, y: { range: (_, least, most) => [0, most > 0 ? most * 1.05 : 1] } };
    const log = { x: { time: false }, y: { distr: 3 } };
    lines("throughput", { points: (run) => [times(run), sum(numbers(run.read), numbers(run.write))], x: seconds, y: { axis: [undefined, short, 52] }, scales: linear, sync: true });
    const p99 = (run) => above(numbers(run.readP99).some((value) => value > 0) ? numbers(run.readP99) : numbers(run.writeP99));
    lines("p99", { points: (run) => [times(run), p99(run)], x: seconds, y: { say: millis, axis: [undefined, decades(millis), 58, true] }, scales: log, sync: true });
    lines("outstanding", { points: (run) => [times(run), numbers(run.outstanding)], x: seconds, y: { axis: [undefined, short, 52] }, scales: linear, sync: true });
  }
  function distribution() {
    const tail = at("cdf-as").value === "tail";
    const points = (run) => {
      const of = run[at("cdf-of").value];
      // Equal latencies are one point, at the highest share.
      const last = numbers(of.millis).map((ms, n, all) => ms > 0 && ms !== all[n + 1] && (!tail || of.share[n] < 1));
      const kept = (values) => values.filter((_, n) => last[n]);
      return [kept(numbers(of.millis)), kept(of.share).map((share) => (tail ? 1 - share : share * 100))];
    };
    const percent = (value) => `${short(value)} %`;
    const beyond = (value) => percent(value * 100);
    lines("cdf", {
      points, x: { name: "latency", say: millis, axis: ["latency", decades(millis), 26, true] },
      y: tail ? { say: beyond, axis: ["took longer", decades(beyond), 62, true] } : { say: percent, axis: [undefined, percent, 58] },
      scales: { x: { time: false, distr: 3 }, y: tail ? { distr: 3 } : { range: [0, 100] } },
    });
  }

  // --- One panel for each scheduler ---
  function panel(id, run, processes) {
    const figure = document.createElement("figure");
    const caption = document.createElement("figcaption");
    const name = document.createElement("b");
    const room = document.createElement("div");
    name.textContent = run.name;
    name.style.color = colour(slots.indexOf(run));
    caption.append(name);
    const legend = document.createElement("ul");
    legend.className = "legend";
    for (const process of processes) {
      const item = document.createElement("li");
      const box = document.createElement("i");
      box.style.background = owned(process);
      item.append(box, process);
      legend.append(item);
    }
    figure.append(caption, room, legend);
    at(id).append(figure);
    return room;
  }
  // Sums of neighbours, so that a hundred steps are left at most: finer ones are too thin to have a colour.
  function coarse(values) {
    const several = Math.ceil(values.length / 100);
    const steps = Array.from({ length: Math.ceil(values.length / several) }, (_, n) => values.slice(n * several, (n + 1) * several));
    return { several, means: steps.map((step) => step.reduce((a, b) => a + b, 0) / step.length) };
  }
  function served(run) {
    const room = panel("served", run, run.processes);
    const { several } = coarse(numbers(run.read));
    // Each area reaches from zero to the sum of its process and of those behind it, and is drawn over the one before.
    const tops = run.served.map((row) => coarse(numbers(row)).means).reduceRight((all, own) => [all.length ? sum(own, all[0]) : own, ...all], []);
    const area = (_, n) => ({ stroke: owned(run.processes[n]), fill: owned(run.processes[n]), width: 0, points: { show: false }, paths: uPlot.paths.stepped({ align: 1 }) });
    const begins = tops[0].map((_, n) => n * several * run.bin);
    const closed = (top) => [...top, top.at(-1)];
    draw(room, {
      scales: { x: { time: false }, y: { range: (_, least, most) => [0, Math.max(most, 100)] } }, legend: { show: false }, cursor: { sync: { key: "time" } },
      axes: [axis(...seconds.axis), axis(undefined, (value) => `${value} %`, 52)], series: [{}, ...tops.map(area)],
    }, [[...begins, run.end], ...tops.map(closed)]);
  }
  // A plot whose marks `paint` draws: (to pixels across, to pixels down, the canvas).
  function painted(room, [from, to], addresses, label, paint) {
    const [low, high] = addresses;
    const margin = Math.max((high - low) * 0.03, 1e-6);
    const bare = { stroke: "transparent", points: { show: false } };
    draw(room, {
      scales: { x: { time: false }, y: {} }, legend: { show: false }, cursor: { drag: { x: true, y: true } },
      axes: [axis(label, short, 26), axis("address, GB", (value) => short(value), 62)], series: [{}, bare],
      hooks: { draw: [(plot) => {
        const { ctx, bbox } = plot;
        ctx.save();
        ctx.beginPath();
        ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
        ctx.clip();
        paint((x) => plot.valToPos(x, "x", true), (y) => plot.valToPos(y, "y", true), ctx, bbox);
        ctx.restore();
      }] },
    }, [[from, to], [low - margin, high + margin]]);
  }
  const bounds = (rows) => [Math.min(...rows.map((row) => Math.min(...numbers(row)))), Math.max(...rows.map((row) => Math.max(...numbers(row))))];
  const seen = (run, of) => run.processes.filter((_, n) => numbers(of.process).includes(n));
  function dots(run, addresses) {
    const of = run.dots;
    if (!numbers(of.at).length) return;
    painted(panel("dots", run, seen(run, of)), [0, run.end], addresses, "seconds", (x, y, ctx, bbox) => {
      const size = 1.5 * devicePixelRatio;
      ctx.fillStyle = named("--ink");
      numbers(run.waiting).forEach((share, n) => {
        ctx.globalAlpha = share / 400;
        ctx.fillRect(x(n * run.bin), bbox.top, x((n + 1) * run.bin) - x(n * run.bin), bbox.height);
      });
      ctx.globalAlpha = 1;
      ctx.lineWidth = devicePixelRatio;
      numbers(of.at).forEach((time, n) => {
        const place = [x(time) - size, y(numbers(of.address)[n]) - size, 2 * size, 2 * size];
        ctx.fillStyle = ctx.strokeStyle = owned(run.processes[numbers(of.process)[n]]);
        if (numbers(of.write)[n]) ctx.strokeRect(...place); else ctx.fillRect(...place);
      });
    });
  }
  function closeUp(run) {
    const of = run.closeUp;
    if (!numbers(of.at).length) return;
    const label = `milliseconds after ${short(of.from)} s`;
    painted(panel("close-up", run, seen(run, of)), [0, Math.max(...numbers(of.done))], bounds([of.address]), label, (x, y, ctx, bbox) => {
      ctx.fillStyle = named("--ink");
      ctx.globalAlpha = 0.16;
      numbers(of.waitFrom).forEach((from, n) => ctx.fillRect(x(from), bbox.top, Math.max(x(numbers(of.waitTo)[n]) - x(from), 1), bbox.height));
      ctx.globalAlpha = 1;
      numbers(of.at).forEach((time, n) => {
        const [down, done] = [y(numbers(of.address)[n]), numbers(of.done)[n]];
        ctx.fillStyle = owned(run.processes[numbers(of.process)[n]]);
        const thin = devicePixelRatio, thick = 5 * devicePixelRatio;
        ctx.fillRect(x(numbers(of.issued)[n]), down - thin / 2, x(time) - x(numbers(of.issued)[n]), thin);
        ctx.fillRect(x(time), down - thick / 2, Math.max(x(done) - x(time), 1.5 * devicePixelRatio), thick);
      });
    });
  }

  function update() {
    for (const end of plots.splice(0)) end();
    for (const id of ["served", "dots", "close-up"]) at(id).replaceChildren();
    mark();
    distribution();
    overTime();
    const drawn = shown().filter((run) => numbers(run.dots.address).length);
    const addresses = drawn.length ? bounds(drawn.map((run) => run.dots.address)) : [0, 1];
    for (const run of shown()) {
      served(run);
      dots(run, addresses);
      closeUp(run);
    }
  }

  // --- Tables: sorted by a column, filtered by name ---
  const value = (cell) => { const number = parseFloat(cell.textContent.replaceAll(",", "")); return Number.isNaN(number) ? -Infinity : number; };
  function sortable(table) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const up = head.ariaSort === "descending" || (!head.ariaSort && column === 0);
        for (const other of heads) other.ariaSort = null;
        head.ariaSort = up ? "ascending" : "descending";
        const order = (a, b) => column === 0 ? a.cells[0].textContent.localeCompare(b.cells[0].textContent) : value(a.cells[column]) - value(b.cells[column]);
        const rows = [...table.tBodies[0].rows].sort((a, b) => (up ? order(a, b) : order(b, a)));
        table.tBodies[0].append(...rows);
      });
    });
  }
  function filtered(table) {
    const label = document.createElement("label");
    const input = document.createElement("input");
    input.type = "search";
    input.addEventListener("input", () => {
      for (const row of table.tBodies[0].rows) row.hidden = !row.cells[0].textContent.toLowerCase().includes(input.value.trim().toLowerCase());
    });
    label.className = "filter";
    label.append("Only schedulers with ", input, " in their names");
    table.closest(".scroll").before(label);
  }

  const tables = [...document.querySelectorAll("main table")];
  tables.forEach(sortable);
  if (tables.length && tables[0].tBodies[0].rows.length > 5) filtered(tables[0]);
  if (!runs.length) return;
  at("plots").hidden = false;
  for (const [key, name] of [["readLatency", "reads"], ["writeLatency", "writes"]]) {
    if (runs.some((run) => run[key].share.length)) at("cdf-of").append(new Option(name, key));
  }
  for (const id of ["cdf-of", "cdf-as"]) at(id).addEventListener("change", update);
  dark.addEventListener("change", update);
  chips();
  update();
})();
