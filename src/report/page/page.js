// Draws the report from the data in the page. No state but the language and the theme.
const data = JSON.parse(document.getElementById("data").textContent);
const wish = new URLSearchParams(location.hash.slice(1));
let language = wish.get("lang") || (navigator.language.startsWith("zh") ? "zh" : "en");
let theme = wish.get("theme") || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
const charts = [];
const kTimes = [1, 10, 60, 600, 3600, 36000, 4 * 86400, 40 * 86400, 365 * 86400];

const at = (id) => document.getElementById(id);
const t = (key, values = {}) => kWords[language][key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const color = (i) => css(`--run${i % 6}`);

function make(tag, text = "", style = {}) {
  const element = document.createElement(tag);
  element.textContent = text;
  Object.assign(element.style, style);
  return element;
}

function number(value, digits = 1) {
  return value.toLocaleString(language, { maximumFractionDigits: digits });
}

function time(seconds) {
  const units = kUnits[language];
  const s = Math.abs(seconds);
  const sign = seconds < 0 ? "-" : "";
  if (s < 120) return sign + number(s, s < 10 ? 1 : 0) + units.s;
  if (s < 7200) return sign + number(s / 60, 0) + units.min;
  if (s < 172800) return sign + number(s / 3600, 1) + units.h;
  return sign + number(s / 86400, 1) + units.d;
}

const percent = (share) => number(100 * share, 1);
const islands = data.runs.find((run) => run.islands);

// The run that the headline is about: the busiest pool whose mean wait is not above the islands'.
function lead() {
  const pools = data.runs.filter((run) => !run.islands);
  if (!islands) return pools[0];
  const kept = pools.filter((run) => run.figures.wait_s.mean <= islands.figures.wait_s.mean);
  return kept.sort((a, b) => b.faster - a.faster)[0] || pools[0] || islands;
}

function headline() {
  const pool = lead();
  const other = islands || data.runs.find((run) => run !== pool);
  const values = {
    gpus: number(pool.gpus, 0), x: number(pool.faster, 2), n: number(pool.figures.jobs, 0),
    share: percent(pool.figures.utilisation), b: time(pool.figures.wait_s.mean),
    a: other ? time(other.figures.wait_s.mean) : "", other: other ? other.name : "",
    ia: other ? percent(other.figures.utilisation) : "", ib: percent(pool.figures.utilisation),
  };
  const better = other && pool.figures.wait_s.mean <= other.figures.wait_s.mean;
  let key = "headOne";
  if (islands && pool !== islands && better) {
    if (pool.faster <= islands.faster) key = "headLess";
    else key = pool.worst_against_island === null ? "headMore" : "headMoreMean";
  } else if (other) {
    key = "headPlain";
  }
  at("headline").textContent = t(key, values);
  let sub = islands && pool !== islands ? t("subPool", values) : "";
  const worst = pool.worst_against_island;
  if (worst) sub += " " + t("subWorst", { queue: worst.queue, a: time(worst.alone_s), b: time(worst.here_s) });
  for (const run of data.runs) {
    const { jobs, unfinished } = run.figures;
    if (unfinished) sub += " " + t("subUnfinished", { run: run.name, n: number(unfinished, 0), all: number(jobs + unfinished, 0) });
  }
  at("subline").textContent = sub;
}

function scenes() {
  const rows = data.runs.map((run, i) => {
    const row = make("div");
    row.className = "scene";
    const who = make("div");
    who.append(make("b", run.name), make("small", run.faster === 1 ? t("asTrace") : t("arrivals", { x: number(run.faster, 2) })));
    const meter = make("div");
    meter.className = "meter";
    meter.append(make("i", "", { width: `${100 * run.figures.utilisation}%`, background: color(i) }),
      make("span", t("busy", { share: percent(run.figures.utilisation) })));
    const facts = make("div");
    facts.className = "facts";
    const wait = make("div");
    wait.append(make("b", time(run.figures.wait_s.mean)), make("small", t("meanWait")));
    const jobs = make("div");
    jobs.append(make("small", t("jobs", { n: number(run.figures.jobs, 0) })), make("br"),
      make("small", t("over", { time: time(run.figures.makespan_s) })));
    facts.append(wait, jobs);
    row.append(who, meter, facts);
    return row;
  });
  at("scenes").replaceChildren(...rows);
}

// Titled groups of bars on one scale: [{of, bars: [{who, value, fill}]}].
function bars(id, groups) {
  const most = Math.max(1e-9, ...groups.flatMap((group) => group.bars.map((bar) => bar.value)));
  const box = make("div");
  box.className = "bars";
  for (const group of groups) {
    if (group.of) {
      const title = make("div", group.of);
      title.className = "of";
      box.append(title);
    }
    for (const bar of group.bars) {
      const who = make("span", bar.who);
      who.className = "who";
      const line = make("div");
      line.className = "bar";
      line.append(make("i", "", { width: `${75 * Math.max(0, bar.value) / most}%`, background: bar.fill }), make("span", time(bar.value)));
      box.append(who, line);
    }
  }
  at(id).replaceChildren(box);
}

function queueBars() {
  const names = [...new Set(data.runs.flatMap((run) => run.figures.queues.map((queue) => queue.queue)))];
  bars("queues", names.map((name) => ({
    of: name || " ",
    bars: data.runs.flatMap((run, i) => {
      const queue = run.figures.queues.find((one) => one.queue === name);
      return queue ? [{ who: run.name, value: queue.wait_s.mean, fill: color(i) }] : [];
    }),
  })));
}

function meanBars() {
  const rows = data.runs.map((run, i) => ({ who: run.name, value: run.figures.jct_s.mean, fill: color(i) }));
  const bounds = lead().figures.bounds;
  if (bounds) rows.push({ who: t("bound"), value: bounds.jct_mean_s, fill: css("--bound") });
  bars("means", [{ of: "", bars: rows }]);
}

function axis(label, more = {}) {
  return { stroke: css("--soft"), grid: { stroke: css("--line"), width: 1 }, ticks: { stroke: css("--line") }, label, labelSize: 20, ...more };
}

function chart(id, height, xs, series, options) {
  const box = at(id);
  box.replaceChildren();
  const plot = new uPlot({
    width: Math.max(280, box.clientWidth), height,
    legend: { live: false }, cursor: { points: { show: false }, y: false },
    series: [{}, ...series], ...options,
  }, xs, box);
  charts.push({ plot, box, height });
}

// All runs on one axis of days, or hours; a run that ends early is empty from then on.
function overTime(id, height, pick, label, range) {
  const step = Math.max(...data.runs.map((run) => run.course.at_s[1] || 1));
  const end = Math.max(...data.runs.map((run) => run.course.at_s.at(-1) || 0));
  const unit = end > 172800 ? "days" : "hours";
  const unitS = unit === "days" ? 86400 : 3600;
  const seconds = [];
  for (let s = 0; s <= end; s += step) seconds.push(s);
  const lines = data.runs.map((run) => {
    const width = run.course.at_s[1] || 1;
    return seconds.map((s) => {
      const from = Math.floor(s / width + 1e-6);
      const to = Math.max(from + 1, Math.floor((s + step) / width));
      const part = pick(run).slice(from, to);
      return part.length ? part.reduce((a, b) => a + b, 0) / part.length : null;
    });
  });
  const main = lead();
  chart(id, height, [seconds.map((s) => s / unitS), ...lines], data.runs.map((run, i) => ({
    label: run.name, stroke: color(i), width: 1.6, fill: run === main ? color(i) + "22" : undefined, points: { show: false },
  })), {
    scales: { x: { time: false }, y: { range } },
    axes: [axis(t(unit), { size: 34 }), axis(label, { size: 56 })],
  });
}

function distribution() {
  const most = Math.max(...data.runs.flatMap((run) => run.jct_quantiles_s), 10);
  const xs = [];
  for (let i = 0; i <= 240; ++i) xs.push(10 ** (Math.log10(most) * i / 240));
  const lines = data.runs.map((run) => {
    const sorted = run.jct_quantiles_s;
    let below = 0;
    return xs.map((x) => {
      while (below < sorted.length && sorted[below] <= x) ++below;
      return sorted.length ? 100 * below / sorted.length : null;
    });
  });
  chart("distribution", 230, [xs, ...lines], data.runs.map((run, i) => ({
    label: run.name, stroke: color(i), width: 1.8, points: { show: false },
  })), {
    scales: { x: { time: false, distr: 3 }, y: { range: [0, 100] } },
    axes: [
      axis("", { size: 34, splits: () => kTimes.filter((s) => s <= most), filter: (_, splits) => splits, values: (_, splits) => splits.map(time) }),
      axis(t("jobsShare"), { size: 56 }),
    ],
  });
}

function gantt() {
  const runs = data.runs.filter((run) => run.gantt.length > 0);
  at("gantt-section").hidden = runs.length === 0;
  const queues = [...new Set(runs.flatMap((run) => run.gantt.map((job) => job.queue)))].sort();
  const end = Math.max(1, ...runs.flatMap((run) => run.gantt.flatMap((job) => job.stays.map((stay) => stay[1]))));
  const svg = "http://www.w3.org/2000/svg";
  const shape = (name, attributes, text) => {
    const element = document.createElementNS(svg, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text) element.textContent = text;
    return element;
  };
  at("gantt").replaceChildren(...runs.flatMap((run) => {
    const height = run.gantt.length > 60 ? 5 : 14;
    const picture = shape("svg", { viewBox: `0 0 1000 ${run.gantt.length * height + 4}`, role: "img", "aria-label": run.name });
    run.gantt.forEach((job, row) => {
      const box = (from, to, fill, title) => {
        const part = shape("rect", { x: 1000 * from / end, y: row * height + 1, width: Math.max(0.5, 1000 * (to - from) / end), height: height - 1.5, rx: 1.5, fill });
        part.append(shape("title", {}, title));
        picture.append(part);
      };
      let since = job.submit_s;
      for (const [from, to] of job.stays) {
        if (from > since) box(since, from, css("--wait"), job.name);
        box(from, to, color(queues.indexOf(job.queue)), `${job.name}  ${job.queue}  ${number(job.gpus)} GPU  ${time(to - from)}`);
        since = to;
      }
    });
    return [make("h3", run.name), picture];
  }));
}

function table() {
  const head = make("thead");
  const names = make("tr");
  names.append(...kWords[language].cols.map((name) => make("th", name)));
  head.append(names);
  const body = make("tbody");
  data.runs.forEach((run, i) => {
    const f = run.figures;
    const worst = run.worst_against_island;
    const row = make("tr");
    const name = make("td");
    const less = [f.unfinished ? t("unfinished", { n: f.unfinished }) : "", f.cut ? t("cut", { n: f.cut }) : ""].filter(Boolean);
    name.append(make("i", "", { background: color(i) }), run.name + (less.length ? ` (${less.join(", ")})` : ""));
    // Of several seeds the mean, and how far the true one may be from it.
    const of = (key, write) => {
      const over = run.seeds && run.seeds.figures[key];
      return over ? `${write(over.mean)} ± ${write(over.half_width_95)}` : write(key.split(".").reduce((value, part) => value[part], f));
    };
    row.append(name, ...[
      number(run.gpus, 0), `${number(run.faster, 2)}x`, of("utilisation", percent),
      ...["wait_s.mean", "wait_s.p50", "wait_s.p99", "jct_s.mean", "jct_s.p50", "jct_s.p99"].map((key) => of(key, time)),
      f.bounds ? time(f.bounds.jct_mean_s) : "", of("makespan_s", time), of("evictions_per_job", (value) => number(value, 3)),
      of("failures_per_job", (value) => number(value, 3)), of("lost_gpu_hours", number),
      worst ? `${worst.queue}: ${time(worst.alone_s)} → ${time(worst.here_s)}` : worst === null ? t("none") : "",
      run.policy, run.seeds ? t("seedsFrom", { first: run.seeds.first, n: run.seeds.count }) : String(run.seed), run.costs,
    ].map((text) => make("td", text)));
    body.append(row);
  });
  at("figures").replaceChildren(head, body);
}

function draw() {
  document.documentElement.lang = language;
  document.documentElement.dataset.theme = theme;
  for (const one of charts.splice(0)) one.plot.destroy();
  for (const element of document.querySelectorAll("[data-t]")) element.textContent = t(element.dataset.t);
  at("source").textContent = data.source;
  at("command").textContent = data.command;
  at("version").textContent = `Pondage ${data.version}`;
  at("language").textContent = t("other");
  at("language").title = t("otherTitle");
  at("theme").textContent = t(theme === "dark" ? "light" : "dark");
  headline();
  scenes();
  overTime("use", 260, (run) => run.course.held.map((gpus) => 100 * gpus / run.gpus), t("share"), [0, 100]);
  overTime("waiting", 170, (run) => run.course.waiting, t("gpus"));
  queueBars();
  meanBars();
  distribution();
  gantt();
  table();
  document.title = `${at("headline").textContent} - Pondage`;
}

at("language").onclick = () => { language = language === "zh" ? "en" : "zh"; draw(); };
at("theme").onclick = () => { theme = theme === "dark" ? "light" : "dark"; draw(); };
addEventListener("resize", () => {
  for (const { plot, box, height } of charts) plot.setSize({ width: Math.max(280, box.clientWidth), height });
});
draw();
