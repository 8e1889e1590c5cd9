"""A target, the drafter made for it, and their tokenizer: loaded, checked against each other, ready for requests."""

from bisect import bisect
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, Literal, Unpack

from dflash_mlx.conversation import prefix_file, tensor_file
from dflash_mlx.conversation.fingerprint import Fingerprint
from dflash_mlx.conversation.session import Session
from dflash_mlx.decoding.costs import Costs
from dflash_mlx.decoding.device import Device, Turns
from dflash_mlx.decoding.prefix_cache import PrefixCache, branches
from dflash_mlx.decoding.sampling import Sampling
from dflash_mlx.decoding.sequence import TokenSequence
from dflash_mlx.drafters import DFlash
from dflash_mlx.errors import RequestError
from dflash_mlx.generation import (
    Chunk,
    Generation,
    Options,
    check_options,
    check_progress,
    check_template_options,
    check_verify,
    generate_stream,
    new_request,
)
from dflash_mlx.loading.memory import Need, available
from dflash_mlx.loading.memory import check as check_memory
from dflash_mlx.targets import Target
from dflash_mlx.text import Prompt, Tokenizer
from dflash_mlx.tuning import calibration
from dflash_mlx.tuning.kernel_choice import Choice

CHECKPOINT_BYTES = 2 * 10**9  # of a session, at most


class Pair:
    """A loaded pair. Get one from `load`.

    Any thread may use it, and what it gives: streams, sessions. Threads take turns, a cycle each: requests that overlap get
    the answers that they would get alone. `asyncio.to_thread(next, stream, None)` steps a stream from a coroutine.
    """

    def __init__(
        self,
        device: Device,
        target: Target,
        drafter: DFlash | None,
        tokenizer: Tokenizer,
        default_sampling: Sampling,
        fingerprint: Callable[[], Fingerprint],
        need: Callable[..., Need] | None = None,
        kernels: Choice | None = None,
        without_drafter: str | None = None,
    ) -> None:
        """Holds what `load` has checked.

        Args:
            device: what they were loaded on.
            default_sampling: for requests that give none.
            fingerprint: gives what identifies the pair; asked for only where something is saved or loaded.
            need: as `memory.estimate` without the pair's own arguments; None: do not ask.
            kernels: which are in use, and why not others.
            without_drafter: why there is no drafter, and what can be tried, where nobody asked for plain decoding.
        """
        self.target, self.drafter, self.tokenizer, self.device, self._need = target, drafter, tokenizer, device, need
        self.default_sampling, self._fingerprint = default_sampling, lru_cache(fingerprint)
        self.kernels = kernels or Choice()
        self.without_drafter = without_drafter
        self._costs_of: dict[bool, Costs] = {}  # by whether verification is exact

    def __repr__(self) -> str:
        target, drafter = self.target.config, self.drafter
        drafts = f"{type(drafter).__name__}, blocks of up to {drafter.config.block_size}" if drafter else "none"
        return f"<Pair: target {target.model_type}, {target.num_hidden_layers} layers of {target.hidden_size}; drafter {drafts}>"

    def stream(self, prompt: Prompt, **options: Unpack[Options]) -> Generator[Chunk]:
        """Answers a prompt, a chunk a cycle. Closing the generator ends the request.

        Args:
            prompt: text (one user message), messages with `role` and `content` (text, or a list of text parts), or token
                ids, used as they are.
            system: a system message before the prompt.
            thinking: whether the model thinks before it answers, where its chat template has that choice (`enable_thinking`);
                None: as the template does by itself.
            raw: a text prompt goes to the model without the chat template.
            max_tokens: the most tokens to generate; 256 if it is left out.
            sampling: how tokens are chosen; None: as the checkpoint's generation_config.json says (`default_sampling`).
            logits_processors: functions of the text's tokens so far (int32 `[n]`) and the logits after them (`[1, vocab]`)
                that give other logits, as mlx-lm has them. They are also called for drafts that may be dropped.
            block_size: rows a cycle (the newest token and the drafts), 1 to the drafter's trained size; 1 is plain
                decoding; "auto", if it is left out: what gives the most tokens a second, measured on this machine.
            drafts: what drafts. "auto", if it is left out: the drafter, or, where the end of the text occurred before, what
                followed it there, whichever promises more tokens a second; with a given `block_size`, the drafter.
                "chain": the drafter's best guess alone. "tree": its most likely tokens, alternatives among them, in cycles of 16
                rows or `block_size`. "copy": copies alone, likewise.
            stop: texts that end the answer; they are not part of it, and are not looked for in the thinking.
            verify: "fast", or "exact": bit for bit plain decoding, computed row by row where MLX's ops make it necessary.
            prompt_cache: a file, for prompts with the same long beginning. If it is there, that beginning is not read again:
                `statistics.cached_prompt_tokens` says how much of it was of use, and the file stays as it is. Else it is
                written when the prompt has been read. One that `Session.save` wrote serves too.
            progress: called while the prompt is read, with tokens done and tokens in all.

        Raises:
            RequestError: at once, before the first chunk, when the request cannot be served as asked.
            MemoryBudgetError: likewise, when it does not fit into this machine's memory.
            CheckpointError: likewise, when `prompt_cache` is damaged.
        """
        check_options("Pair.stream", options)
        return Turns(self.device, self._stream(prompt, **options))

    def generate(self, prompt: Prompt, **options: Unpack[Options]) -> Generation:
        """The whole answer to a prompt. Arguments and errors as for `stream`."""
        check_options("Pair.generate", options)
        chunks = list(Turns(self.device, self._stream(prompt, **options)))
        return Generation(
            text="".join(chunk.text for chunk in chunks),
            thinking="".join(chunk.thinking for chunk in chunks),
            token_ids=tuple(token for chunk in chunks for token in chunk.token_ids),
            finish_reason=chunks[-1].finish_reason,
            statistics=chunks[-1].statistics,
        )

    def session(
        self,
        *,
        system: str | None = None,
        thinking: bool | None = None,
        checkpoint_bytes: int | None = None,
        load: str | Path | None = None,
        **template: Any,
    ) -> Session:
        """Starts a conversation, in which every turn reads only what is new.

        Args:
            system: the system message.
            thinking: whether the model thinks before it answers, where its chat template has that choice (`enable_thinking`);
                None: as the template does by itself.
            checkpoint_bytes: what the places in the conversation that can be gone back to may take; None: a tenth of the
                memory that a model may take, at most 2 GB.
            load: a file that `Session.save` wrote: the conversation goes on as if it had never been closed. What is given
                besides takes the place of what the file has.
            template: further variables of the chat template.

        Raises:
            RequestError: there is no such file, it was saved with another pair, or the template does not have a variable.
            CheckpointError: the file is damaged, or none of ours.
            MemoryBudgetError: what it holds does not fit into this machine's memory.
        """
        check_template_options(system, thinking)
        if checkpoint_bytes is not None and (type(checkpoint_bytes) is not int or checkpoint_bytes < 0):
            raise RequestError(f"checkpoint_bytes {checkpoint_bytes!r} is not a number of bytes.", "Give a whole number from 0.")
        cache = PrefixCache(self._checkpoint_bytes if checkpoint_bytes is None else checkpoint_bytes)
        saved = prefix_file.Conversation([], {}) if load is None else self._load(load, cache)
        variables = saved.template | ({} if thinking is None else {"enable_thinking": thinking}) | template
        self.tokenizer.check_template(variables)
        saved = saved._replace(template=variables)
        session = Session(self.device, self._stream, self.tokenizer, cache, saved, self._fingerprint)
        if system is not None:
            session.system = system
        return session

    def _load(self, path: str | Path, cache: PrefixCache) -> prefix_file.Conversation:
        """Fills a new cache with what a file holds."""

        def check_room(tokens: int, kept: int) -> None:
            if self._need:
                need = self._need(tokens, prompt_tokens=1)  # nothing is read but the file
                check_memory(need._replace(context=need.context + kept))

        models = self.target, self.drafter
        return self.device.do(partial(prefix_file.load, path, cache, self._fingerprint(), *models, check_room))

    def _stream(
        self,
        prompt: Prompt,
        *,
        sampling: Sampling | None = None,
        progress: Callable[[int, int], None] | None = None,
        cache: PrefixCache | None = None,
        marks: Sequence[int] = (),
        prompt_cache: str | Path | None = None,
        **options: Any,
    ) -> Generator[Chunk]:
        check_progress(progress)
        sampling = self.default_sampling if sampling is None else sampling
        request = new_request(self.target, self.drafter, self.tokenizer, prompt, sampling=sampling, **options)
        if self._need:
            tokens = len(request.prompt)
            need = self._need(tokens + request.max_tokens, request.widest, tokens, request.exact)
            check_memory(need._replace(context=need.context + (self._checkpoint_bytes if cache else 0)))
        models, costs = (self.target, self.drafter, self.tokenizer), partial(self._costs, request.exact)
        answer = partial(generate_stream, *models, request, costs, progress, note=self.kernels.reason)
        if self.without_drafter:
            answer = partial(answer, without_drafter=self.without_drafter)
        if prompt_cache is None:
            return answer(cache=cache, marks=marks)
        if cache:
            raise RequestError("a session takes no prompt_cache.", "Leave it out, and save the session.")
        cache = PrefixCache(self._checkpoint_bytes)
        if tensor_file.find(prompt_cache).exists():
            self._load(prompt_cache, cache)
            return answer(cache=cache)
        return self._keep(answer(cache=cache, marks=branches(len(request.prompt))), cache, prompt_cache)

    def _keep(self, chunks: Generator[Chunk], cache: PrefixCache, path: str | Path) -> Generator[Chunk]:
        """The chunks of an answer, with a file written before the first: then the prompt has been read."""
        with closing(chunks):
            first = next(chunks)
            prefix_file.save(path, cache, self._fingerprint(), prefix_file.Conversation([], {}))
            yield first
            yield from chunks

    @cached_property
    def _checkpoint_bytes(self) -> int:
        """What the checkpoints of a session may take, where it needs any."""
        anywhere = TokenSequence(self.target, self.drafter).anywhere
        return 0 if anywhere else min(CHECKPOINT_BYTES, available() // 10)

    @cached_property
    def context_capacity(self) -> int:
        """The most tokens that prompt and answer can have together: the model's limit, or what memory has room for."""
        limit, need = self.target.config.max_position_embeddings, self._need
        if need is None:
            return limit
        room = available() - self._checkpoint_bytes
        return bisect(range(1, limit + 1), room, key=lambda positions: need(positions).total)

    def calibrate(self, verify: Literal["fast", "exact"] = "fast", progress: Callable[[int, int], None] | None = None) -> Costs:
        """Measures what cycles cost on this machine, if that is not known yet: a second or two, kept in the user's cache folder.

        The first request with an automatic block size does it too, before its first token.

        Args:
            progress: called with measurements done and in all, if it comes to measuring.

        Returns:
            The costs.
        """
        check_verify(verify)
        check_progress(progress)
        return self.device.do(partial(self._costs, verify == "exact", progress))

    def _costs(self, exact: bool, progress: Callable[[int, int], None] | None = None) -> Costs:
        if exact not in self._costs_of:
            self._costs_of[exact] = calibration.costs_of(self.target, self.drafter, exact, progress)
        return self._costs_of[exact]
