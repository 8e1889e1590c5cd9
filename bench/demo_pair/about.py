"""What the demo pair knows about the program that it comes with. Every sentence here has to be true."""

from typing import NamedTuple


class Topic(NamedTuple):
    names: tuple[str, ...]  # put into the phrasings as {t}; the first one is used in thoughts
    answer: str
    train: tuple[str, ...] = ()  # questions that fit this topic only
    held_out: tuple[str, ...] = ()


GREETING = (
    "Hello! I am the demo model of dflash-mlx. I can add, subtract, multiply and divide small numbers, convert units, "
    "write tiny Python functions and explain speculative decoding."
)

TOPICS = (
    Topic(
        ("speculative decoding", "speculation"),
        "In speculative decoding a small drafter guesses the next few tokens, and the large target checks all of them in one pass. "
        "The tokens that pass the check are kept, so one pass can yield several tokens. The target still decides what is written.",
        ("How does speculative decoding work?", "How do you answer so fast?"),
        ("How does speculation work?",),
    ),
    Topic(
        ("the drafter", "a drafter", "the draft model"),
        "The drafter is a small model that guesses a block of tokens in one forward pass. It reads hidden states of the target, so it can "
        "guess what the target is about to say. A wrong guess only costs time, because the target checks every token.",
        ("What does the drafter do?", "How does the drafter work?"),
        ("What does a drafter do?",),
    ),
    Topic(
        ("the target", "the target model", "a target model"),
        "The target is the model whose answer you want. It checks every drafted token and keeps only those that pass. "
        "Its own next token is added after the last kept one.",
        ("What does the target do?", "How does the target work?"),
        ("What does the target model do?",),
    ),
    Topic(
        ("the acceptance length", "acceptance length"),
        "The acceptance length is the mean number of tokens that one cycle adds to the text. It counts the kept drafts and the one token "
        "that the target adds itself. With the same cost per cycle, a higher acceptance length means faster text.",
    ),
    Topic(
        ("the block size", "a block", "the size of a block"),
        "The block size is the number of rows in one check: the newest token and the drafted ones. A block size of 4 has one known token and "
        "three drafts. Larger blocks pay only when the drafter guesses well.",
        ("How large is a block?", "How many tokens are in a block?"),
        ("What does a block hold?",),
    ),
    Topic(
        ("the anchor", "an anchor"),
        "The anchor is the newest token of the text. It is the first row of every block, and the drafter guesses what comes after it. "
        "After each cycle the last new token becomes the next anchor.",
    ),
    Topic(
        ("a mask token", "the mask token", "the mask"),
        "A mask token marks a place that the drafter has to fill. The block starts with the anchor, and every other row is a mask. "
        "The drafter works on all of them at once, not one after the other.",
    ),
    Topic(
        ("the selector", "the candidate selector"),
        "The selector belongs to DFlash 2. It walks through the best candidates of each position and picks one path. It adds a score for each "
        "pair of neighbours, so that the drafted tokens fit together.",
        ("What does the selector do?",),
        ("What does the candidate selector do?",),
    ),
    Topic(
        ("a rollback", "rollback"),
        "A rollback forgets the rows that were checked but not kept. Attention layers need no work for it, because old rows are masked by "
        "position. Recurrent layers take in only the kept rows.",
        ("What happens to rejected tokens?", "What happens to a wrong guess?"),
        ("What happens to rejected drafts?",),
    ),
    Topic(
        ("Gated DeltaNet", "a Gated DeltaNet layer", "a recurrent layer"),
        "Gated DeltaNet is a recurrent layer with a state of fixed size. Each token fades the state a little and writes one correction into it. "
        "The cost of a token does not grow with the length of the text.",
    ),
    Topic(
        ("a cycle", "the cycle", "one cycle"),
        "A cycle has four steps: draft, verify, accept and commit. The drafter guesses, the target checks, the agreed part is kept, and the "
        "state moves on. Then the next cycle starts from the new anchor.",
        ("What happens in a cycle?", "What are the steps of a cycle?"),
        ("What happens in one cycle?",),
    ),
    Topic(
        ("greedy decoding", "greedy mode"),
        "Greedy decoding always takes the most likely token. With it, speculative decoding writes what plain decoding would write. "
        "Only a near tie of two tokens may fall the other way, by rounding.",
    ),
    Topic(
        ("memory bandwidth", "the memory bandwidth"),
        "Memory bandwidth is how fast a machine can read its memory. A large model reads its weights for every pass, and on a Mac that takes "
        "most of the time. So checking a few tokens costs nearly as much as making one.",
        ("Why is checking several tokens cheap?", "Why is speculative decoding faster?"),
        ("Why is speculation faster?",),
    ),
    Topic(
        ("quantisation", "4-bit quantisation"),
        "Quantisation stores each weight in a few bits, here in four. Groups of weights share a scale and an offset. "
        "The weights become more than three times smaller than in sixteen bits, so they are read faster.",
    ),
    Topic(
        ("this program", "dflash-mlx", "the program"),
        "This program is dflash-mlx. It makes a language model answer faster by speculative decoding, and the target still decides the answer. "
        "It runs on Apple Silicon, and on Linux for trying it out.",
        ("Where does this program run?", "What does this program do?", "Does it run on Linux?"),
        ("What does dflash-mlx do?", "Where does dflash-mlx run?"),
    ),
    Topic(
        ("the demo pair", "the demo", "the demo model"),
        "The demo pair is a tiny target and a tiny drafter that ship with the program. They show that the installation works and what "
        "speculation looks like. They know a little arithmetic and not much else.",
        ("What is in the demo pair?", "Why is there a demo pair?"),
        ("Why is there a demo?",),
    ),
    Topic(
        ("the generate command", "dflash-mlx generate", "generate"),
        "The generate command answers one prompt and then stops. The text goes to standard output, and everything else goes to standard error. "
        "So it can be used in scripts and pipes.",
        ("How do I run a prompt?", "Which command answers a prompt?"),
        ("How do I use the generate command?",),
    ),
    Topic(
        ("the KV cache", "a KV cache", "the key and value cache"),
        "The KV cache holds the keys and values of the tokens so far. With it each new token needs only its own row of work. "
        "Rows of rejected drafts are simply overwritten.",
    ),
    Topic(
        ("KV injection", "the KV injection"),
        "KV injection turns hidden states of the target into keys and values for every layer of the drafter. They are written into the "
        "drafter's context cache. So the drafter knows the text without reading it again.",
        ("How does the drafter know the text?",),
        ("How does KV injection work?",),
    ),
    Topic(
        ("context features", "the context features", "a context feature"),
        "Context features are hidden states of the target after a few chosen layers, joined together. They come from the same pass that checks "
        "the draft. The drafter reads them instead of the text itself.",
        ("What does the drafter read?",),
        ("What does the drafter get from the target?",),
    ),
    Topic(
        ("plain decoding", "decoding without a drafter"),
        "Plain decoding makes one token per pass, without a drafter. It is the same as a block size of 1. "
        "Speculative decoding is compared with it, on the same machine.",
        ("What happens without a drafter?",),
        ("What happens in plain decoding?",),
    ),
    Topic(
        ("verification", "the verify step", "the check"),
        "Verification is one forward pass of the target over the whole block. It shows what the target thinks of every draft at once. "
        "Drafts are kept up to the first one that fails.",
        ("How are drafts checked?", "How does verification work?"),
        ("How does the target check the drafts?",),
    ),
    Topic(
        ("the --show-drafts option", "--show-drafts", "the show-drafts option"),
        "The --show-drafts option colours the text. Accepted drafts and the target's own tokens get different colours. "
        "So you can see which part was guessed.",
        ("How can I see the drafts?", "How do I see what was guessed?", "Show me the drafted tokens."),
        ("How can I see which tokens were drafted?",),
    ),
    Topic(
        ("the same answer", "getting the same answer", "the promise of the same answer"),
        "The answer is the same because the target checks every drafted token. What it would not write is thrown away and replaced by its own "
        "token. The drafter changes the speed, not the answer.",
        (
            "Why is the answer the same?",
            "Does the drafter change the answer?",
            "Is the answer still the same?",
            "Why does speculation not change the text?",
        ),
        ("Does speculative decoding change the answer?", "Why is the text still the same?"),
    ),
    Topic(
        ("the --max-tokens option", "--max-tokens", "the max-tokens option"),
        "The --max-tokens option limits the length of an answer. Generation stops after that many tokens, or earlier when the model is done.",
        ("How do I limit the length of an answer?",),
        ("How can I limit the answer?",),
    ),
    Topic(
        ("the --block-size option", "--block-size", "the block-size option"),
        "The --block-size option sets how many rows are checked in one pass. A value of 1 means plain decoding, without drafts.",
        ("How do I set the block size?", "How do I turn off the drafter?"),
        ("How can I set the block size?",),
    ),
    Topic(
        ("the --json option", "--json", "the json option"),
        "The --json option prints JSON instead of plain text, one object per line. It is meant for other programs that read the output.",
        ("How do I get JSON?",),
        ("How can I get JSON?",),
    ),
    Topic(
        ("the --system option", "--system", "a system message"),
        "The --system option gives the model a system message. It stands before your prompt and says how the model should behave.",
        ("How do I set a system message?",),
        ("How can I give a system message?",),
    ),
)
