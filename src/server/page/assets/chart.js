// A curve over the steps of a training. What is under the pointer is read off above it.
import { el, svg } from "./ui.js";

const kWidth = 340, kHeight = 190, kLeft = 52, kRight = 8, kTop = 12, kBottom = 24;

// As many digits as it takes to tell values apart that differ by `gap`.
export function number(value, gap = 0) {
  const size = Math.abs(value);
  if (size !== 0 && (size < 0.001 || size >= 1e5)) return value.toExponential(1);
  const digits = gap > 0 && size > 0 ? Math.ceil(Math.log10(size / gap)) + 1 : 3;
  return String(Number(value.toPrecision(Math.min(8, Math.max(3, digits)))));
}

// At most `most` points, each the mean of its neighbours.
function thinned(points, most = 400) {
  if (points.length <= most) return points;
  const out = [];
  for (let i = 0; i < most; ++i) {
    const part = points.slice(Math.floor((i * points.length) / most), Math.floor(((i + 1) * points.length) / most));
    out.push([part.at(-1)[0], part.reduce((sum, point) => sum + point[1], 0) / part.length]);
  }
  return out;
}

// From values to places in the drawing.
function scales(points) {
  const bounds = (at) => [Math.min(...points.map((point) => point[at])), Math.max(...points.map((point) => point[at]))];
  const [x0, x1] = bounds(0);
  let [y0, y1] = bounds(1);
  if (y0 === y1) { y0 -= 0.5; y1 += 0.5; }
  return {
    x0, x1, y0, y1,
    x: (value) => kLeft + ((value - x0) / (x1 - x0 || 1)) * (kWidth - kLeft - kRight),
    y: (value) => kTop + (1 - (value - y0) / (y1 - y0)) * (kHeight - kTop - kBottom),
  };
}

function axes({ x0, x1, y0, y1, y }) {
  const parts = [];
  for (const share of [0, 0.5, 1]) {
    const value = y0 + share * (y1 - y0);
    parts.push(svg("line", { class: "axis", x1: kLeft, x2: kWidth - kRight, y1: y(value), y2: y(value) }),
      svg("text", { x: kLeft - 6, y: y(value) + 4, "text-anchor": "end" }, number(value, (y1 - y0) / 2)));
  }
  parts.push(svg("text", { x: kLeft, y: kHeight - 6 }, `step ${x0}`),
    svg("text", { x: kWidth - kRight, y: kHeight - 6, "text-anchor": "end" }, String(x1)));
  return parts;
}

const nearest = (points, step) => points.reduce((best, point) => (Math.abs(point[0] - step) < Math.abs(best[0] - step) ? point : best));

// `kinds`: {train: [[step, value], ...], eval: ...}
export function chart(name, kinds) {
  const lines = Object.entries(kinds).filter(([, points]) => points.length).map(([kind, points]) => [kind, thinned(points)]);
  const place = scales(lines.flatMap(([, points]) => points));
  const values = el("span", { class: "values" });
  const mark = svg("line", { class: "mark", y1: kTop, y2: kHeight - kBottom });
  const tell = (step) => {
    const found = lines.map(([kind, points]) => [kind, step === null ? points.at(-1) : nearest(points, step)]);
    values.replaceChildren(...(step === null ? [] : [`step ${found[0][1][0]}: `]),
      ...found.map(([kind, [, value]]) => el("span", { class: kind }, `${kind} ${number(value)}`)));
    mark.setAttribute("visibility", step === null ? "hidden" : "visible");
    for (const end of ["x1", "x2"]) mark.setAttribute(end, place.x(found[0][1][0]));
  };
  const picture = svg("svg", { viewBox: `0 0 ${kWidth} ${kHeight}`, role: "img", "aria-label": `${name}, last ${number(lines[0][1].at(-1)[1])}` },
    ...axes(place), mark);
  for (const [kind, points] of lines) {
    picture.append(svg("polyline", { class: kind, points: points.map(([a, b]) => `${place.x(a).toFixed(1)},${place.y(b).toFixed(1)}`).join(" ") }));
    if (kind === "eval") for (const [a, b] of points) picture.append(svg("circle", { cx: place.x(a), cy: place.y(b), r: 2.6 }));
  }
  picture.addEventListener("pointermove", (event) => {
    const box = picture.getBoundingClientRect();
    const at = ((event.clientX - box.left) * kWidth) / box.width;
    tell(place.x0 + ((at - kLeft) / (kWidth - kLeft - kRight)) * (place.x1 - place.x0));
  });
  picture.addEventListener("pointerleave", () => tell(null));
  tell(null);
  return el("div", { class: "card chart" }, el("div", { class: "row between" }, el("h2", {}, name), values), picture);
}
