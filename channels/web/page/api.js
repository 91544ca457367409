// Requests and event streams of the page, with reconnects.

import {problemOf, t} from "/page/words.js";

/**
 * An error of the API: `status`, `code` (docs/api.md) and a message to show. Status 0: no response. `detail` is the message
 * of the server, `field` the field of a form that it is about.
 */
export class ApiError extends Error {
  constructor(status, code, message, {detail, field} = {}) {
    super(message);
    Object.assign(this, {status, code, detail, field});
  }
}

const AWAY = t("Millpond is not responding. Check whether `millpond run` is still running.");

/** Request `path` → the JSON of the response, null if it is empty. Throws ApiError; an AbortError is passed on. */
export async function request(method, path, {body, signal} = {}) {
  const options = {method, signal, headers: {Accept: "application/json"}, credentials: "same-origin"};
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, "away", AWAY);
  }
  if (!response.ok) throw await errorOf(response);
  if (response.status === 204) return null;
  try {
    return await response.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, "away", AWAY);
  }
}

export const get = (path, signal) => request("GET", path, {signal});
export const post = (path, body, signal) => request("POST", path, {body: body ?? {}, signal});
export const put = (path, body, signal) => request("PUT", path, {body, signal});

/** A session key or a scope as one segment of an address. */
export const segment = (text) => encodeURIComponent(text);

/** The address of a session in the API, and of its parts. */
export const ofSession = (session, rest = "") => `/api/sessions/${segment(session)}${rest}`;

/** `{after: 3, q: ""}` → "?after=3" */
export function query(values) {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return given.length ? `?${new URLSearchParams(given)}` : "";
}

/** Upload a file as the body of a POST → the JSON of the response; `progress(share)` is told how much was sent, 0 to 1. */
export function upload(path, file, {progress, signal}) {
  // fetch() tells nothing about the progress of an upload.
  return new Promise((done, failed) => {
    const sending = new XMLHttpRequest();
    sending.open("POST", path);
    sending.setRequestHeader("Content-Type", "application/octet-stream");
    sending.upload.onprogress = ({loaded, total}) => progress(total ? loaded / total : 0);
    sending.onerror = () => failed(new ApiError(0, "away", AWAY));
    sending.onabort = () => failed(new DOMException("", "AbortError"));
    sending.onload = async () => {
      const response = new Response(sending.responseText, {status: sending.status});
      if (response.ok) done(await response.json());
      else failed(await errorOf(response));
    };
    signal.addEventListener("abort", () => sending.abort(), {once: true});
    sending.send(file);
  });
}

async function errorOf(response) {
  let error = {};
  try {
    error = (await response.json()).error ?? {};
  } catch { /* perhaps the error page of a proxy */ }
  const message = error.message ?? t("The server responded with HTTP status {status}. Try again.", {status: response.status});
  const failure = new ApiError(response.status, error.code ?? "error", problemOf(error.code, message), {detail: error.message, field: error.field});
  if (response.status === 401) dispatchEvent(new CustomEvent("mp-unauthorized", {detail: failure}));
  return failure;
}

const RETRY_MS = [300, 600, 1200, 2500, 5000];
/** The server sends something every second: after this silence the connection counts as lost, and later it is ended. */
const QUIET_MS = 1800;
const SILENCE_MS = 10_000;
/** A hidden page closes its stream: a browser has six connections to a server, shared by all tabs. */
const HIDDEN_MS = 20_000;

/**
 * Server-Sent Events that reconnect automatically after restarts and stalls, and when a hidden page is shown again.
 *
 * `address()` is called before each connection, so that it can name the position to continue from. `onevent(name, data)`
 * gets each event, `onstate("live" | "away")` each change of the connection. `signal` ends the stream.
 */
export class Stream {
  constructor({address, onevent, onstate, signal}) {
    Object.assign(this, {address, onevent, onstate, signal});
    this.failures = 0;
    this.run();
  }

  async run() {
    while (!this.signal.aborted) {
      await this.untilSeen();
      if (this.signal.aborted) return;
      const began = Date.now();
      const end = await this.connect();
      if (this.signal.aborted) return;
      if (end === "hidden") continue;
      this.failures = Date.now() - began > 5000 ? 0 : this.failures + 1;
      this.onstate?.("away");
      await this.pause(RETRY_MS[Math.min(this.failures, RETRY_MS.length - 1)] * (0.75 + Math.random() / 2));
    }
  }

  /** One connection → the reason of its end. */
  async connect() {
    const controller = new AbortController();
    let end = "broken";
    const stop = (why) => { end = why; controller.abort(); };
    const leave = () => stop("gone");
    this.signal.addEventListener("abort", leave);
    let silence, quiet, hidden, live = false;
    const turn = (state) => {
      if (live !== (live = state)) this.onstate?.(state ? "live" : "away");
    };
    const heard = () => {
      clearTimeout(silence);
      clearTimeout(quiet);
      silence = setTimeout(stop, SILENCE_MS, "silent");
      if (live) quiet = setTimeout(turn, QUIET_MS, false);
    };
    const arrived = () => {
      turn(true);
      heard();
    };
    const cut = () => stop("offline");
    addEventListener("offline", cut);
    const look = () => {
      clearTimeout(hidden);
      if (document.hidden) hidden = setTimeout(stop, HIDDEN_MS, "hidden");
    };
    document.addEventListener("visibilitychange", look);
    look();
    heard();
    try {
      const options = {signal: controller.signal, headers: {Accept: "text/event-stream"}, cache: "no-store"};
      const response = await fetch(this.address(), options);
      if (!response.ok) throw await errorOf(response);
      arrived();
      await read(response.body, (name, data) => this.onevent(name, data), arrived);
    } catch (error) {
      if (error.name !== "AbortError" && !(error instanceof TypeError) && !(error instanceof ApiError)) console.error(error);
    } finally {
      clearTimeout(silence);
      clearTimeout(quiet);
      clearTimeout(hidden);
      removeEventListener("offline", cut);
      document.removeEventListener("visibilitychange", look);
      this.signal.removeEventListener("abort", leave);
      controller.abort();
    }
    return end;
  }

  untilSeen() {
    if (!document.hidden) return Promise.resolve();
    return new Promise((done) => {
      const options = {once: true};
      document.addEventListener("visibilitychange", done, options);
      this.signal.addEventListener("abort", done, options);
    });
  }

  /** Wait, but not when the machine comes back online. */
  pause(ms) {
    return new Promise((done) => {
      const end = () => {
        clearTimeout(timer);
        removeEventListener("online", end);
        done();
      };
      const timer = setTimeout(end, ms);
      addEventListener("online", end);
      this.signal.addEventListener("abort", end, {once: true});
    });
  }
}

/** Parse the stream (WHATWG HTML, section 9.2.6) and hand over each event with its JSON. */
async function read(body, onevent, heard) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const {done, value} = await reader.read();
    if (done) return;
    heard();
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      let name = "message";
      const data = [];
      for (const line of block.split("\n")) {
        if (line.startsWith("event: ")) name = line.slice(7);
        else if (line.startsWith("data: ")) data.push(line.slice(6));
      }
      if (data.length) onevent(name, JSON.parse(data.join("\n")));
    }
  }
}
