// Requests to the server that this page came from.

const kTokenKey = "addp-token";
let token = sessionStorage.getItem(kTokenKey) || "";

// The address may carry the token behind '#', where no server sees it.
if (location.hash.startsWith("#token=")) {
  setToken(decodeURIComponent(location.hash.slice(7)));
  history.replaceState(null, "", location.pathname);
}

export function setToken(text) {
  token = text;
  sessionStorage.setItem(kTokenKey, text);
}

export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

function headers(extra = {}) {
  return token ? { ...extra, Authorization: `Bearer ${token}` } : extra;
}

async function check(response) {
  if (response.ok) return response;
  let message = `the server answered ${response.status}`;
  try {
    message = (await response.json()).error.message;
  } catch { /* no JSON: the status says it */ }
  if (response.status === 503) message += " (the server is busy)";
  throw new ApiError(response.status, message);
}

async function ask(path, options) {
  try {
    return await check(await fetch(path, options));
  } catch (error) {
    if (error instanceof ApiError || error.name === "AbortError") throw error;
    throw new ApiError(0, "the server cannot be reached; is it still running?");
  }
}

export async function getJson(path) {
  return (await ask(path, { headers: headers() })).json();
}

export async function getBlob(path) {
  return (await ask(path, { headers: headers() })).blob();
}

export async function postPicture(path, blob, fields = {}) {
  const form = new FormData();
  form.append("image", blob, "picture");
  for (const [name, value] of Object.entries(fields)) if (value !== "") form.append(name, String(value));
  return (await ask(path, { method: "POST", headers: headers(), body: form })).json();
}

// Calls handlers[event](data) for every server-sent event until the stream ends. `body` is an object
// (sent as JSON) or a FormData.
export async function postStream(path, body, handlers, signal) {
  const isForm = body instanceof FormData;
  const response = await ask(path, {
    method: "POST",
    signal,
    headers: isForm ? headers() : headers({ "Content-Type": "application/json" }),
    body: isForm ? body : JSON.stringify(body),
  });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "", finished = false;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    rest += value;
    let end;
    while ((end = rest.indexOf("\n\n")) >= 0) {
      const block = rest.slice(0, end);
      rest = rest.slice(end + 2);
      let name = "message", data = "";
      for (const line of block.split("\n")) {
        if (line.startsWith("event: ")) name = line.slice(7);
        else if (line.startsWith("data: ")) data += line.slice(6);
      }
      if (!data) continue;
      const parsed = JSON.parse(data);
      if (name === "error") throw new ApiError(parsed.code, parsed.message);
      if (name === "done") finished = true;
      await handlers[name]?.(parsed);
    }
  }
  if (!finished) throw new ApiError(0, "the connection ended before the work was done; try again");
}
