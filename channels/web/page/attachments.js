// The files of the message that is being written: chosen, pasted, dropped or recorded (voice-recording.js), uploaded at once, and kept with
// the draft. `files` are those that were uploaded, in the form of the API. Events: "change" · "edit" (the person has added or removed a
// file) · "failed" (with the name of a file that was not uploaded).

import {ofSession, query, upload} from "/page/api.js";
import {fill, h, iconButton, toast} from "/page/dom.js";
import {fileAddress, kindOf, size} from "/page/files.js";
import {VoiceRecording} from "/page/voice-recording.js";
import {t} from "/page/words.js";

const CLIP = "M8 12.5 14.6 5.9a3 3 0 0 1 4.2 4.2l-8.5 8.5a5 5 0 0 1-7-7L11 3.9";

/** By file: when it was added. */
const places = new WeakMap();
let added = 0;

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
    this.voice = new VoiceRecording({signal, done: (file) => this.add([file])});
    this.buttons = [this.chooser, this.attach, this.voice.button];
    this.list = h("ul.attachments", {"aria-label": t("Attached files"), hidden: true});
  }

  /** Whether a file is being uploaded. */
  get busy() { return this.uploads.size > 0; }

  /** The limits of /api/me: `max`, `max_bytes`, and whether voice messages are transcribed. */
  allow(limits) {
    this.limits = limits;
    this.voice.allow(limits?.voice);
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
    this.edited();
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
    const one = {name: file.name, place: ++added, share: 0, cancel: () => controller.abort()};
    this.uploads.add(one);
    this.signal.addEventListener("abort", one.cancel, {once: true});
    try {
      const address = ofSession(this.session, `/file${query({id: this.id(), name: file.name, kind})}`);
      const found = await upload(address, file, {signal: controller.signal, progress: (share) => {
        one.share = share;
        if (one.bar) one.bar.value = share;
      }});
      if (this.uploads.has(one)) {
        places.set(found, one.place);
        this.files = [...this.files, found].sort((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0));
      }
    } catch (error) {
      if (error.name !== "AbortError") {
        toast(t("{name} could not be uploaded: {problem}", {name: file.name, problem: error.message}), "bad");
        this.dispatchEvent(new CustomEvent("failed", {detail: file.name}));
      }
    }
    this.uploads.delete(one);
    this.change();
  }

  remove(file) {
    this.files = this.files.filter((each) => each !== file);
    this.edited();
  }

  /** The person has added or removed a file. */
  edited() {
    this.dispatchEvent(new Event("edit"));
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
        return chip(one.name, one.bar, () => { this.uploads.delete(one); one.cancel(); this.edited(); });
      }));
    this.list.hidden = !this.files.length && !this.uploads.size;
  }
}
