// COCO's compressed run lengths: columns from top to bottom, runs of 0 and 1 in turn.

export function runsOf(text) {
  const runs = [];
  for (let at = 0; at < text.length;) {
    let value = 0, shift = 0, more = true;
    while (more && at < text.length) {
      const digit = text.charCodeAt(at++) - 48;
      value |= (digit & 0x1f) << shift;
      more = (digit & 0x20) !== 0;
      shift += 5;
      if (!more && digit & 0x10) value |= -1 << shift;
    }
    if (runs.length > 2) value += runs[runs.length - 2];
    runs.push(value);
  }
  return runs;
}

// Calls visit(x, y) for every pixel of the mask.
export function eachMaskPixel(segmentation, visit) {
  const [height, width] = segmentation.size;
  let at = 0, inside = false;
  for (const run of runsOf(segmentation.counts)) {
    if (inside) for (let i = at; i < at + run && i < width * height; ++i) visit(Math.floor(i / height), i % height);
    at += run;
    inside = !inside;
  }
}
