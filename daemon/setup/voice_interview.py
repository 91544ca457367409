"""The questions about voice messages: a server that transcribes them and one that speaks answers, with a trial."""

import io
import wave

from daemon.clock import SystemClock
from daemon.config import Secret, SpeechConfig, TranscriptionConfig
from daemon.config.environment import Table
from daemon.errors import ModelError
from daemon.model import speech_synthesizer, transcriber
from daemon.printable import one_line
from daemon.setup.answers import Flags, ModelAnswer, VoiceAnswer
from daemon.setup.config_tables import SecretFile, inner, put_secret
from daemon.setup.questions import AnswerRefused, Asker, address_problem, run
from daemon.setup.setup_files import ConfigPlace

SPOKEN = "Hello"
"""The text of the trial."""
SILENCE_S, SAMPLES_PER_S = 1, 8_000
"""Length and sampling rate of the recording of the trial without speech: one second at the rate of telephones."""
HEARD_MAX_CHARS = 60
"""Of the transcription that is shown."""
NONE = "-"
SECTIONS = ("transcription", "speech")


class VoiceInterview:
    """Asks whether the bot understands voice messages and answers them with its voice. Nothing is written."""

    def __init__(self, asker: Asker, flags: Flags, place: ConfigPlace, model: ModelAnswer | None = None) -> None:
        """Nothing is asked yet. ``model``: the new model of the bot; None: the model of the configuration."""
        self._asker = asker
        self._flags = flags
        self._place = place
        self._model = model

    def answer(self, bot: str) -> VoiceAnswer | None:
        """The server and its models; None: as the configuration says already.

        Raises:
            ConfigError: an answer will not do.
            ModelError: the server failed in the trial, and there is nobody to ask about it.
            click.Abort: the person does not want to go on.
        """
        flags, asker = self._flags, self._asker
        known = {name: self._place.word("name", "bots", bot, name) for name in SECTIONS}
        usual = self._known_url(bot) if any(known.values()) else NONE
        given = (flags.voice_url, flags.transcription, flags.speech, flags.voice, flags.voice_secret())
        if all(value is None for value in given) and not (asker.asks and self._is_one_server(bot)):
            return None
        while True:
            given_url, given_transcription, given_speech, given_voice, given_key = given
            url = asker.text(
                "\n"
                "Voice messages: address of a server with an OpenAI-compatible audio API (type - for no voice "
                "messages)",
                flag="--voice-url",
                given=given_url,
                default=usual,
                check=address_problem,
            )
            if url == NONE:
                return VoiceAnswer()
            key = asker.secret(
                "API key of the server (press Enter for none)",
                flag="--voice-key",
                given=given_key,
                default=self._known_key(bot, url),
            )
            transcription = asker.text(
                "Speech-to-text model for voice messages (type - for none)",
                flag="--transcription-model",
                given=given_transcription,
                default=known["transcription"] or "whisper-1",
            )
            speech = asker.text(
                "Text-to-speech model for spoken answers (type - for none)",
                flag="--speech-model",
                given=given_speech,
                default=known["speech"] or NONE,
            )
            if transcription == NONE != speech:
                text = "spoken answers also require a speech-to-text model. Enter both models"
                raise AnswerRefused("--transcription-model", "", text)
            voice = self._place.word("voice", "bots", bot, "speech") or SpeechConfig().voice
            if speech != NONE:
                voice = asker.text("Voice", flag="--voice", given=given_voice, default=voice)
            found = VoiceAnswer(
                base_url=url,
                key=key,
                is_model_s=(url, key) == (self._word(bot, "model"), self._key(bot, "model") or Secret("")),
                transcription="" if transcription == NONE else transcription,
                speech="" if speech == NONE else speech,
                voice=voice,
            )
            if not found.transcription or not flags.test or self._works(found):
                return found
            # The given values will not do: from here on everything is asked.
            given, usual = (None, None, None, None, None), url

    def _is_one_server(self, bot: str) -> bool:
        """Whether one server does both. Two servers of a configuration stay as they are."""
        named = [name for name in SECTIONS if self._place.word("name", "bots", bot, name)]
        return len({(self._word(bot, name), self._key(bot, name)) for name in named}) < 2

    def _word(self, bot: str, name: str) -> str:
        if name == "model" and self._model is not None:
            return self._model.base_url
        return self._place.word("base_url", "bots", bot, name)

    def _key(self, bot: str, name: str) -> Secret | None:
        if name == "model" and self._model is not None:
            return self._model.key
        return self._place.secret("api_key", "bots", bot, name)

    def _known_url(self, bot: str) -> str:
        """The address of the bot's server for voice messages, else that of its model."""
        return next(filter(None, (self._word(bot, name) for name in (*SECTIONS, "model"))), NONE)

    def _known_key(self, bot: str, url: str) -> Secret | None:
        """The key that is known for a server; no other server is to get it."""
        known = (self._key(bot, name) for name in (*SECTIONS, "model") if self._word(bot, name) == url)
        return next(filter(None, known), None)

    def _works(self, answer: VoiceAnswer) -> bool:
        self._asker.say(f"Testing {', '.join(filter(None, (answer.speech, answer.transcription)))} …")
        try:
            heard = run(lambda: try_voice(*voice_configs(answer)))
        except ModelError as error:
            if not self._asker.asks:
                raise
            self._asker.say(f"  {error}")
            return self._asker.confirm("Keep this server anyway", default=False)
        self._asker.say(heard)
        return True


def voice_configs(answer: VoiceAnswer) -> tuple[TranscriptionConfig, SpeechConfig | None]:
    """The configuration that an answer becomes: the server that transcribes, and the server that speaks."""
    url, key = answer.base_url, answer.key
    speaks = SpeechConfig(base_url=url, api_key=key, name=answer.speech, voice=answer.voice) if answer.speech else None
    return TranscriptionConfig(base_url=url, api_key=key, name=answer.transcription), speaks


async def try_voice(hears: TranscriptionConfig, speaks: SpeechConfig | None) -> str:
    """What came of a trial, for people: a word is spoken, and its recording is transcribed.

    Without a server that speaks, a recording of silence is transcribed.

    Raises:
        ModelError: a server failed; the text says which, and what to do.
    """
    recording = _silence() if speaks is None else await _spoken(speaks)
    listener = await transcriber(hears, SystemClock())
    try:
        heard = one_line((await listener.text_of(recording)).text)[:HEARD_MAX_CHARS]
    finally:
        await listener.aclose()
    if speaks is None:
        return f"{hears.name} transcribed a recording"
    return f"{speaks.name} spoke a word ({len(recording):,} bytes), and {hears.name} transcribed the word as “{heard}”"


async def _spoken(config: SpeechConfig) -> bytes:
    synthesizer = await speech_synthesizer(config, SystemClock())
    try:
        return await synthesizer.speech_of(SPOKEN)
    finally:
        await synthesizer.aclose()


def set_voice(tables: Table, bot: str, answer: VoiceAnswer) -> list[SecretFile]:
    """Change the servers for voice messages in ``tables``; the files that come with them."""
    section, files = inner(tables, "bots", bot), list[SecretFile]()
    for kind, name in (("transcription", answer.transcription), ("speech", answer.speech)):
        if not name:
            section.pop(kind, None)
            continue
        its = inner(section, kind)
        its |= {"name": name, **({"voice": answer.voice} if kind == "speech" else {})}
        if answer.is_model_s:
            for key in ("base_url", "api_key", "api_key_file"):
                its.pop(key, None)
            continue
        its["base_url"] = answer.base_url
        file = SecretFile(name=f"{bot}.voice.key", secret=answer.key) if answer.key else None
        put_secret(its, "api_key", file)
        files = [file] if file else []
    return files


def _silence() -> bytes:
    made = io.BytesIO()
    with wave.open(made, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(SAMPLES_PER_S)
        sound.writeframes(bytes(2 * SAMPLES_PER_S * SILENCE_S))
    return made.getvalue()
