// The recording of a voice message from the microphone.

import {iconButton, toast} from "/page/dom.js";
import {t} from "/page/words.js";

const MICROPHONE = "M12 3a3 3 0 0 1 3 3v5a3 3 0 0 1-6 0V6a3 3 0 0 1 3-3zM6 11a6 6 0 0 0 12 0M12 17v4";

export class VoiceRecording {
  /** `done(file)` takes each recording; `signal` discards an unfinished one. */
  constructor({signal, done}) {
    Object.assign(this, {signal, done, recorder: null});
    this.button = iconButton(t("Record a voice message"), MICROPHONE, () => this.toggle());
    this.button.hidden = true;
  }

  /** Show the button if the bot transcribes voice messages and the browser can record. */
  allow(isTranscribed) {
    this.button.hidden = !isTranscribed || !navigator.mediaDevices || !window.MediaRecorder;
  }

  /** Begin to record, or end the recording. */
  async toggle() {
    if (this.recorder) return this.recorder.stop();
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
      if (this.signal.aborted) return;
      const type = this.recorder.mimeType.split(";")[0];
      this.recorder = null;
      this.show(false);
      const name = `voice-${new Date().toISOString().slice(0, 19).replace(/:/g, "")}.${type.split("/")[1] ?? "webm"}`;
      this.done(Object.assign(new File(pieces, name, {type}), {kind: "voice"}));
    };
    this.signal.addEventListener("abort", () => this.recorder?.stop(), {once: true});
    this.recorder.start();
    this.show(true);
  }

  show(isRecording) {
    const label = isRecording ? t("Stop recording") : t("Record a voice message");
    this.button.classList.toggle("recording", isRecording);
    this.button.setAttribute("aria-label", label);
    this.button.title = label;
  }
}
