// The files of the message that is being written: chosen, pasted, dropped or recorded, uploaded at once, and kept with
// the draft. `files` are those that were uploaded, in the form of the API.

import {ofSession, query, upload} from "/page/api.js";
import {fill, h, toast} from "/page/dom.js";
import {fileAddress, kindOf, size} from "/page/files.js";
import {t} from "/page/words.js";

const CLIP = "M8 12.5 14.6 5.9a3 3 0 0 1 4.2 4.2l-8.5 8.5a5 5 0 0 1-7-7L11 3.9";
const MICROPHONE = "M12 3a3 3 0 0 1 3 3v5a3 3 0 0 1-6 0V6a3 3 0 0 1 3-3zM6 11a6 6 0 0 0 12 0M12 17v4";

const icon = (path) => h("svg", {viewBox: "0 0 24 24", "aria-hidden": "true"}, h("path", {d: path}));
const iconButton = (label, path, onclick) => h("button.icon-button", {type: "button", "aria-label": label, title: label, onclick}, icon(path));

export class Attachments extends EventTarget {
  /** `id()` gives the id of the message, which each file belongs to. */
  constructor({session, id, signal}) {
    super();
    Object.assign(this, {session, id, signal, limits: null, uploads: new Set()});
    this.files = [];
    this.chooser = h("input", {type: "file", multiple: true, hidden: true, tabindex: -1, "aria-label": t("Choose files"), onchange: () => {
      this.add(this.chooser.files);
      this.chooser.value = "";
    }});
    this.attach = iconButton(t("Attach files"), CLIP, () => this.chooser.click());
    this.microphone = iconButton(t("Record a voice message"), MICROPHONE, () => this.record());
    this.microphone.hidden = true;
    this.buttons = [this.chooser, this.attach, this.microphone];
    this.list = h("ul.attachments", {"aria-label": t("Attached files"), hidden: true});
  }

  /** Whether a file is being uploaded. */
  get busy() { return this.uploads.size > 0; }

  /** The limits of /api/me: `max`, `max_bytes`, and whether voice messages are transcribed. */
  allow(limits) {
    this.limits = limits;
    this.microphone.hidden = !limits?.voice || !navigator.mediaDevices || !window.MediaRecorder;
  }

  /** Show the uploaded `files` of a draft. */
  restore(files) {
    for (const each of this.uploads) each.cancel();
    this.uploads.clear();
    this.files = files;
    this.draw();
  }

  /** Upload each of a list of files. */
  add(list) {
    for (const file of list) {
      if (this.limits && file.size > this.limits.max_bytes) toast(t("{name} is larger than {size}", {name: file.name, size: size(this.limits.max_bytes)}), "bad");
      else if (this.limits && this.files.length + this.uploads.size >= this.limits.max) toast(t("A message can have at most {n} files", {n: this.limits.max}), "bad");
      else this.upload(file, file.kind ?? kindOf(file));
    }
    this.change();
  }

  /** Take files that are dropped on an element. */
  dropOn(element) {
    const over = (event, is) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      element.classList.toggle("dropping", is);
    };
    element.addEventListener("dragover", (event) => over(event, true));
    element.addEventListener("dragleave", (event) => over(event, false));
    element.addEventListener("drop", (event) => {
      over(event, false);
      this.add(event.dataTransfer?.files ?? []);
    });
  }

  async upload(file, kind) {
    const controller = new AbortController();
    const one = {name: file.name, share: 0, cancel: () => controller.abort()};
    this.uploads.add(one);
    this.signal.addEventListener("abort", one.cancel, {once: true});
    try {
      const address = ofSession(this.session, `/file${query({id: this.id(), name: file.name, kind})}`);
      const found = await upload(address, file, {signal: controller.signal, progress: (share) => {
        one.share = share;
        if (one.bar) one.bar.value = share;
      }});
      if (this.uploads.has(one)) this.files = [...this.files, found];
    } catch (error) {
      if (error.name !== "AbortError") toast(t("{name} could not be uploaded: {problem}", {name: file.name, problem: error.message}), "bad");
    }
    this.uploads.delete(one);
    this.change();
  }

  remove(file) {
    this.files = this.files.filter((each) => each !== file);
    this.change();
  }

  change() {
    this.draw();
    this.dispatchEvent(new Event("change"));
  }

  draw() {
    const chip = (name, content, remove) => h("li.attachment", null, content, h("span.name", null, name),
      h("button.quiet", {type: "button", "aria-label": t("Remove {name}", {name}), onclick: remove}, "×"));
    fill(this.list,
      this.files.map((file) => chip(file.name, file.kind === "image"
        ? h("img", {src: fileAddress(this.session, file.path), alt: "", width: 40, height: 40})
        : h("span.soft.small", null, size(file.size_bytes)), () => this.remove(file))),
      [...this.uploads].map((one) => {
        one.bar = h("progress", {max: 1, value: one.share, "aria-label": t("Uploading {name}", {name: one.name})});
        return chip(one.name, one.bar, () => { this.uploads.delete(one); one.cancel(); this.change(); });
      }));
    this.list.hidden = !this.files.length && !this.uploads.size;
  }

  /** Begin to record, or end the recording and upload it. */
  async record() {
    if (this.recorder) {
      this.recorder.stop();
      return;
    }
    let stream;
    try {
      stream = await navigator.mediaDevices.getUserMedia({audio: true});
    } catch {
      toast(t("The microphone is not available. Allow this page to use the microphone in your browser settings."), "bad");
      return;
    }
    const pieces = [];
    this.recorder = new MediaRecorder(stream);
    this.recorder.ondataavailable = ({data}) => pieces.push(data);
    this.recorder.onstop = () => {
      for (const track of stream.getTracks()) track.stop();
      const type = this.recorder.mimeType.split(";")[0];
      this.recorder = null;
      this.recording(false);
      const name = `voice-${new Date().toISOString().slice(0, 19).replace(/:/g, "")}.${type.split("/")[1] ?? "webm"}`;
      this.add([Object.assign(new File(pieces, name, {type}), {kind: "voice"})]);
    };
    this.signal.addEventListener("abort", () => { if (this.recorder) { this.recorder.onstop = () => stream.getTracks().forEach((track) => track.stop()); this.recorder.stop(); } }, {once: true});
    this.recorder.start();
    this.recording(true);
  }

  recording(is) {
    const label = is ? t("Stop recording") : t("Record a voice message");
    this.microphone.classList.toggle("recording", is);
    this.microphone.setAttribute("aria-label", label);
    this.microphone.title = label;
  }
}
