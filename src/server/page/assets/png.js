// The recipe inside of a PNG file: its text chunks whose keys begin with "addp:".

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// The text of an iTXt chunk behind its keyword.
async function internationalText(data, at) {
  const compressed = data[at + 1] === 1;
  let start = at + 3;
  for (let zeros = 0; zeros < 2 && start < data.length; ++start) if (data[start] === 0) ++zeros;
  const text = data.subarray(start);
  return new TextDecoder("utf-8").decode(compressed ? await inflate(text) : text);
}

export async function readRecipe(blob) {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  const view = new DataView(bytes.buffer);
  const signature = [0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10];
  if (bytes.length < 8 || signature.some((value, i) => bytes[i] !== value)) return null;
  const recipe = {};
  const latin = new TextDecoder("latin1");
  for (let at = 8; at + 12 <= bytes.length;) {
    const length = view.getUint32(at);
    const type = latin.decode(bytes.subarray(at + 4, at + 8));
    if (at + 12 + length > bytes.length) break;
    const data = bytes.subarray(at + 8, at + 8 + length);
    const zero = data.indexOf(0);
    if (zero > 0 && (type === "tEXt" || type === "iTXt" || type === "zTXt")) {
      const key = latin.decode(data.subarray(0, zero));
      if (key.startsWith("addp:")) {
        try {
          recipe[key.slice(5)] = type === "tEXt" ? latin.decode(data.subarray(zero + 1))
            : type === "iTXt" ? await internationalText(data, zero)
              : latin.decode(await inflate(data.subarray(zero + 2)));
        } catch { /* a broken text is no recipe */ }
      }
    }
    if (type === "IEND") break;
    at += 12 + length;
  }
  return "seed" in recipe ? recipe : null;
}
