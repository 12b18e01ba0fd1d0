// The picture with its mask: drawing, undo, zoom, margins. Knows nothing of the server.

const kUndoBytes = 96 << 20;
const kTint = [220, 40, 60, 140];

export class MaskEditor {
  constructor(canvas, changed) {
    this.canvas = canvas;
    this.changed = changed;
    this.image = null;
    this.mask = document.createElement("canvas");
    this.margins = { left: 0, top: 0, right: 0, bottom: 0 };
    this.tool = "brush";
    this.size = 12;
    this.view = { scale: 1, x: 0, y: 0 };
    this.cursor = null;      // in pixels of the picture
    this.undos = [];
    this.redos = [];
    this.drag = null;
    this.touches = new Map();  // fingers on the canvas, by pointer
    this.preview = null;     // {image, box}: x_t while it is being filled in
    new ResizeObserver(() => this.resize()).observe(canvas);
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("pointercancel", (event) => this.up(event));
    canvas.addEventListener("pointerleave", () => { if (!this.drag && !this.byKeys) { this.cursor = null; this.draw(); } });
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("keyup", (event) => { if (event.code === "Space") this.panning = false; });
  }

  open(image) {
    this.image = image;
    this.mask.width = image.naturalWidth ?? image.width;
    this.mask.height = image.naturalHeight ?? image.height;
    this.margins = { left: 0, top: 0, right: 0, bottom: 0 };
    this.undos = [];
    this.redos = [];
    this.preview = null;
    this.fit();
    this.changed();
  }

  get width() { return this.mask.width; }
  get height() { return this.mask.height; }
  get context() { return this.mask.getContext("2d", { willReadFrequently: true }); }

  // How many pixels of the picture are to be made anew.
  hiddenPixels() {
    if (!this.image) return 0;
    const data = this.context.getImageData(0, 0, this.width, this.height).data;
    let sum = 0;
    for (let i = 3; i < data.length; i += 4) if (data[i]) ++sum;
    return sum;
  }

  // White where it is to be filled in.
  maskBlob() {
    const out = document.createElement("canvas");
    out.width = this.width;
    out.height = this.height;
    const context = out.getContext("2d");
    const data = this.context.getImageData(0, 0, this.width, this.height);
    for (let i = 0; i < data.data.length; i += 4) {
      const value = data.data[i + 3] ? 255 : 0;
      data.data.set([value, value, value, 255], i);
    }
    context.putImageData(data, 0, 0);
    return new Promise((resolve) => out.toBlob(resolve, "image/png"));
  }

  // --- history: the mask and the margins
  state() {
    return { mask: this.context.getImageData(0, 0, this.width, this.height), margins: { ...this.margins } };
  }

  remember() {
    if (!this.image) return;
    this.undos.push(this.state());
    this.redos = [];
    const most = Math.max(2, Math.floor(kUndoBytes / (4 * this.width * this.height)));
    while (this.undos.length > most) this.undos.shift();
  }

  step(from, to) {
    if (!from.length) return;
    to.push(this.state());
    const { mask, margins } = from.pop();
    this.context.putImageData(mask, 0, 0);
    this.margins = margins;
    this.changed();
    this.draw();
  }
  undo() { this.step(this.undos, this.redos); }
  redo() { this.step(this.redos, this.undos); }

  clear() {
    this.remember();
    this.context.clearRect(0, 0, this.width, this.height);
    this.changed();
    this.draw();
  }

  invert() {
    this.remember();
    const data = this.context.getImageData(0, 0, this.width, this.height);
    for (let i = 0; i < data.data.length; i += 4) data.data.set(data.data[i + 3] ? [0, 0, 0, 0] : kTint, i);
    this.context.putImageData(data, 0, 0);
    this.changed();
    this.draw();
  }

  // --- geometry
  resize() {
    const ratio = devicePixelRatio || 1;
    const width = Math.round(this.canvas.clientWidth * ratio), height = Math.round(this.canvas.clientHeight * ratio);
    if (!width || !height || (this.canvas.width === width && this.canvas.height === height)) return;
    this.canvas.width = width;
    this.canvas.height = height;
    this.fit();
  }

  fit() {
    if (!this.image || !this.canvas.width) return this.draw();
    const { left, top, right, bottom } = this.margins;
    const width = this.width + left + right, height = this.height + top + bottom;
    const edge = 36 * (devicePixelRatio || 1);
    this.view.scale = Math.min((this.canvas.width - 2 * edge) / width, (this.canvas.height - 2 * edge) / height);
    this.view.x = (this.canvas.width - (this.width + right - left) * this.view.scale) / 2;
    this.view.y = (this.canvas.height - (this.height + bottom - top) * this.view.scale) / 2;
    this.draw();
  }

  leavesCanvas() {
    const frame = this.frame(), { scale, x, y } = this.view;
    return x + frame.x * scale < 0 || y + frame.y * scale < 0
      || x + (frame.x + frame.width) * scale > this.canvas.width || y + (frame.y + frame.height) * scale > this.canvas.height;
  }

  zoom(factor, at = { x: this.canvas.width / 2, y: this.canvas.height / 2 }) {
    const scale = Math.min(64, Math.max(0.02, this.view.scale * factor));
    const grown = scale / this.view.scale;
    this.view.x = at.x - (at.x - this.view.x) * grown;
    this.view.y = at.y - (at.y - this.view.y) * grown;
    this.view.scale = scale;
    this.draw();
  }

  place(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = ((event.clientX - box.left) * this.canvas.width) / box.width;
    const y = ((event.clientY - box.top) * this.canvas.height) / box.height;
    return { x, y, px: (x - this.view.x) / this.view.scale, py: (y - this.view.y) / this.view.scale };
  }

  frame() {
    const { left, top, right, bottom } = this.margins;
    return { x: -left, y: -top, width: this.width + left + right, height: this.height + top + bottom };
  }

  // The edges of the frame that a point is near: mostly from outside, so that pixels at the edge can
  // be painted.
  edgeAt(point) {
    const frame = this.frame(), pixel = (devicePixelRatio || 1) / this.view.scale;
    const beyond = {  // how far outside of each edge
      left: frame.x - point.px, right: point.px - frame.x - frame.width,
      top: frame.y - point.py, bottom: point.py - frame.y - frame.height,
    };
    if (Object.values(beyond).some((distance) => distance > 14 * pixel)) return [];
    return Object.keys(beyond).filter((edge) => beyond[edge] > -3 * pixel);
  }

  setMargin(side, value) {
    this.margins[side] = Math.max(0, Math.min(2048, Math.round(value)));
    this.changed();
    this.draw();
  }

  // --- drawing on the mask
  paint(draw, erase = false) {
    const context = this.context;
    context.save();
    context.globalCompositeOperation = erase ? "destination-out" : "source-over";
    context.fillStyle = context.strokeStyle = erase ? "#000" : `rgb(${kTint[0]} ${kTint[1]} ${kTint[2]})`;
    draw(context);
    context.restore();
    this.harden();
  }

  // Every pixel is hidden or not: soft edges of strokes count as hidden.
  harden() {
    const data = this.context.getImageData(0, 0, this.width, this.height);
    for (let i = 0; i < data.data.length; i += 4) {
      if (data.data[i + 3] > 127) data.data.set(kTint, i);
      else data.data.fill(0, i, i + 4);
    }
    this.context.putImageData(data, 0, 0);
  }

  dab(from, to, erase) {
    this.paint((context) => {
      context.lineWidth = this.size;
      context.lineCap = context.lineJoin = "round";
      context.beginPath();
      context.moveTo(from.px, from.py);
      context.lineTo(to.px + 0.01, to.py);
      context.stroke();
    }, erase);
  }

  // --- pointer
  down(event) {
    if (!this.image) return;
    this.canvas.focus();
    this.canvas.setPointerCapture(event.pointerId);
    this.byKeys = false;
    const point = this.place(event);
    if (event.pointerType === "touch") this.touches.set(event.pointerId, point);
    if (this.touches.size === 2) return this.beginPinch();
    const edges = this.tool === "pan" ? [] : this.edgeAt(point);
    if (this.tool === "pan" || this.panning || event.button === 1) {
      this.drag = { kind: "pan", last: point };
    } else if (edges.length) {
      this.remember();
      this.drag = { kind: "edge", edges, start: point, margins: { ...this.margins } };
    } else {
      this.remember();
      this.drag = { kind: this.tool, start: point, last: point, points: [point], erase: this.tool === "eraser" || event.button === 2 };
      if (this.tool === "brush" || this.tool === "eraser") this.dab(point, point, this.drag.erase);
    }
    this.draw();
  }

  move(event) {
    if (!this.image) return;
    const point = this.place(event);
    this.cursor = point;
    const drag = this.drag;
    if (drag?.kind === "pinch") {
      this.pinch(event.pointerId, point);
    } else if (!drag) {
      const edges = this.tool === "pan" ? [] : this.edgeAt(point);
      const sideways = edges.includes("left") || edges.includes("right");
      this.canvas.style.cursor = this.tool === "pan" ? "grab" : !edges.length ? "crosshair"
        : edges.length > 1 ? "move" : sideways ? "ew-resize" : "ns-resize";
    } else if (drag.kind === "pan") {
      this.view.x += point.x - drag.last.x;
      this.view.y += point.y - drag.last.y;
      drag.last = point;
    } else if (drag.kind === "edge") {
      for (const edge of drag.edges) {
        const along = edge === "left" || edge === "right" ? point.px - drag.start.px : point.py - drag.start.py;
        this.setMargin(edge, drag.margins[edge] + (edge === "left" || edge === "top" ? -along : along));
      }
    } else {
      if (drag.kind === "brush" || drag.kind === "eraser") this.dab(drag.last, point, drag.erase);
      drag.last = point;
      drag.points.push(point);
    }
    this.draw();
  }

  up(event) {
    const drag = this.drag;
    this.touches.delete(event.pointerId);
    this.drag = null;
    if (!drag || !this.image) return;
    if (drag.kind === "edge") {
      if (drag.edges.every((edge) => this.margins[edge] === drag.margins[edge])) this.undos.pop();
      if (this.leavesCanvas()) this.fit();
    } else if (drag.kind === "box") {
      this.paint((context) => context.fillRect(drag.start.px, drag.start.py, drag.last.px - drag.start.px, drag.last.py - drag.start.py));
    } else if (drag.kind === "lasso") {
      this.paint((context) => {
        context.beginPath();
        for (const point of drag.points) context.lineTo(point.px, point.py);
        context.fill();
      });
    }
    this.changed();
    this.draw();
  }

  // --- two fingers move and zoom; what the first of them began is taken back
  beginPinch() {
    if (this.drag && this.drag.kind !== "pan") {
      this.undo();
      this.redos.pop();
    }
    this.drag = { kind: "pinch" };
  }

  pinch(id, point) {
    const [a, b] = this.touches.values();
    if (!b) return;
    const middle = { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 }, distance = Math.hypot(a.x - b.x, a.y - b.y);
    Object.assign(this.touches.get(id), point);
    const next = { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
    this.view.x += next.x - middle.x;
    this.view.y += next.y - middle.y;
    this.zoom(Math.hypot(a.x - b.x, a.y - b.y) / Math.max(1, distance), next);
  }

  wheel(event) {
    if (!this.image) return;
    event.preventDefault();
    const sign = event.deltaY < 0 ? 1 : -1;
    if (event.ctrlKey || this.tool === "pan") this.zoom(sign > 0 ? 1.15 : 1 / 1.15, this.place(event));
    else this.resizeBrush(sign);
  }

  resizeBrush(sign) {
    this.size = Math.max(1, Math.min(128, Math.round(this.size * (sign > 0 ? 1.2 : 1 / 1.2) + sign * 0.5)));
    this.changed();
    this.draw();
  }

  // --- keyboard: arrows move the brush, the space bar paints
  key(event) {
    if (!this.image || event.ctrlKey || event.metaKey) return;
    const step = event.shiftKey ? 1 : Math.max(1, this.size / 2);
    const ways = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    const way = ways[event.key];
    if (way) {
      const last = this.cursor ?? { px: this.width / 2, py: this.height / 2 };
      this.cursor = {
        px: Math.max(0, Math.min(this.width, last.px + way[0])),
        py: Math.max(0, Math.min(this.height, last.py + way[1])),
      };
      this.byKeys = true;
      this.draw();
      event.preventDefault();
    } else if (event.key === " " && this.byKeys !== false) {
      this.cursor ??= { px: this.width / 2, py: this.height / 2 };
      this.byKeys = true;
      this.remember();
      this.dab(this.cursor, this.cursor, this.tool === "eraser");
      this.changed();
      this.draw();
      event.preventDefault();
    } else if (event.key === " ") {
      this.panning = true;
      event.preventDefault();
    }
  }

  // --- the screen
  draw() {
    const context = this.canvas.getContext("2d");
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    if (!this.image) return;
    const { scale, x, y } = this.view;
    context.setTransform(scale, 0, 0, scale, x, y);
    context.imageSmoothingEnabled = scale < 1;
    const frame = this.frame();
    context.fillStyle = "rgb(220 40 60 / 30%)";
    context.fillRect(frame.x, frame.y, frame.width, frame.height);
    context.drawImage(this.image, 0, 0);
    context.drawImage(this.mask, 0, 0);
    if (this.preview) {
      const { image, box } = this.preview;
      context.drawImage(image, box[0] - this.margins.left, box[1] - this.margins.top, box[2], box[3]);
    }
    const ratio = (devicePixelRatio || 1) / scale;
    context.lineWidth = 1.5 * ratio;
    context.strokeStyle = "rgb(59 91 219)";
    context.strokeRect(frame.x, frame.y, frame.width, frame.height);
    context.fillStyle = "rgb(59 91 219)";
    const handle = 9 * ratio;
    for (const [hx, hy] of [[0, 0.5], [1, 0.5], [0.5, 0], [0.5, 1]]) {
      context.fillRect(frame.x + frame.width * hx - handle / 2, frame.y + frame.height * hy - handle / 2, handle, handle);
    }
    this.drawCursor(context, ratio);
  }

  drawCursor(context, ratio) {
    const drag = this.drag;
    context.setLineDash([4 * ratio, 3 * ratio]);
    context.strokeStyle = "#fff";
    if (drag?.kind === "box") {
      context.strokeRect(drag.start.px, drag.start.py, drag.last.px - drag.start.px, drag.last.py - drag.start.py);
    } else if (drag?.kind === "lasso") {
      context.beginPath();
      for (const point of drag.points) context.lineTo(point.px, point.py);
      context.stroke();
    }
    context.setLineDash([]);
    if (!this.cursor || !(this.tool === "brush" || this.tool === "eraser")) return;
    for (const [color, grow] of [["#000", 0], ["#fff", ratio]]) {
      context.strokeStyle = color;
      context.lineWidth = ratio;
      context.beginPath();
      context.arc(this.cursor.px, this.cursor.py, this.size / 2 + grow, 0, 2 * Math.PI);
      context.stroke();
    }
  }
}
