"""What the demo pair knows about the program that it comes with. Every sentence here has to be true."""

from typing import NamedTuple

IT = ("dflash-mlx", "it", "it", "this", "this program", "dflash mlx", "the program", "this tool")  # what {it} becomes


class Topic(NamedTuple):
    names: tuple[str, ...]  # put into the phrasings as {t}
    answer: str
    train: tuple[str, ...] = ()  # questions that fit this topic only
    held_out: tuple[str, ...] = ()


GREETING = (
    "Hello! I am the demo model of dflash-mlx. I can add, subtract, multiply and divide small numbers, convert units, "
    "write tiny Python functions and answer questions about dflash-mlx."
)

ELSE = (
    "That is beyond me, a tiny demo model. I can add, subtract, multiply and divide small numbers, convert units, "
    "write tiny Python functions and answer questions about dflash-mlx."
)

# fmt: off
TOPICS = (
    # ---- what people ask first
    Topic(
        ("dflash-mlx", "dflash mlx", "this program", "the program", "this tool", "this project"),
        "dflash-mlx makes a Qwen model answer faster on a Mac, with the same answer. A small drafter guesses the next tokens, and the model checks them all in one pass.",
        (
            "What does {it} do?", "What is {it} good for?", "What is {it} for?", "Why should I use {it}?", "What can I do with {it}?", "what does {it} do exactly",
            "Why does {it} exist?", "What is the point of {it}?", "What is the idea behind {it}?", "What is this?", "What is this thing?", "what am i running",
            "Tell me what {it} does.", "Explain {it} in one sentence.", "purpose of {it}", "How does {it} work?", "What problem does {it} solve?", "What does this do?",
            "wat is dflash-mlx", "what is dflash mlx?", "Can you tell me what {it} does?", "I'd like to know what {it} does.", "Could you tell me what {it} is for?",
            "Please tell me what {it} is for.", "Sum up {it}.", "What is dflash-mlx in simple words?", "what does this program do", "what's this program for", "What's {it} for?",
            "Why would I want {it}?", "what is this repo", "What is this software?", "What kind of program is {it}?", "How does {it} make things faster?", "overview of {it}",
            "I just installed {it}. What does it do?", "I found {it}. What is it?", "about this program", "Do I need {it}?", "Is {it} useful?",
        ),
        (
            "What is {it} used for?", "What would I use {it} for?", "Why was {it} written?", "In one sentence, what does {it} do?", "Which problem is {it} meant to solve?",
            "what's the use of {it}",
        ),
    ),
    Topic(
        ("the installation", "installing dflash-mlx", "the install", "the setup"),
        "To install it, clone the repository and run `pip install .` in it, with Python 3.11 or newer. Careful: `pip install dflash-mlx` installs another project of that name.",
        (
            "How do I install {it}?", "How can I install {it}?", "How to install {it}?", "how to install", "how 2 install", "how do u install {it}", "install?", "install",
            "install pls", "How do I set {it} up?", "How do I get {it}?", "Where can I get {it}?", "Where do I download {it}?", "Can I install {it} with pip?", "pip install?",
            "pip install dflash-mlx", "How do I install {it} on a Mac?", "How do I install {it} on my Mac?", "Is there a pip package?", "Is {it} on PyPI?",
            "How do I get started?", "How do I start with {it}?", "What do I need to do to install {it}?", "How do I put {it} on my machine?", "I want to install {it}.",
            "Help me install {it}.", "steps to install {it}", "How do I download {it}?", "Is there a brew formula?", "Can I install {it} with brew?",
            "Can I use uv to install {it}?", "getting started", "quickstart", "I cannot install {it}.", "Does pip install dflash-mlx work?",
            "Can you tell me how to install {it}?", "I'd like to know how to install {it}.", "Could you please tell me how I install {it}?", "Tell me how to install {it}.",
            "how do i instal {it}", "How do I install dflash?", "how to setup {it}", "What is the install command?", "Which command installs {it}?", "How do I build {it}?",
            "How is {it} installed?", "Is {it} easy to install?", "I would like to install {it}, how?", "Why does pip give me another dflash-mlx?",
        ),
        (
            "How does one install {it}?", "What is the way to install {it}?", "Where do I find {it} to install?", "Could you help me set {it} up?", "installation steps please",
            "What must I type to install {it}?", "Is it enough to pip install {it}?",
        ),
    ),
    Topic(
        ("the requirements", "the Python version"),
        "You need Python 3.11 or newer, and a Mac with Apple Silicon or Linux on the CPU. macOS ships an older Python; `uv` brings its own.",
        (
            "Which Python do I need?", "Does {it} need Python?", "What Python version does {it} need?", "What are the requirements?", "What do I need to run {it}?",
            "requirements?", "requirements", "python version?", "Which version of Python?", "Does it work with Python 3.9?", "Does {it} work with Python 3.13?",
            "Is Python 3.10 enough?", "Do I need Python for {it}?", "What does {it} require?", "Is the Python of macOS enough?", "prerequisites?", "What do I need first?",
            "which python", "Can I use Python 3.12?", "what python do i need for {it}", "Can you tell me which Python {it} needs?", "My Python is too old.",
            "Does it need Xcode?", "dependencies?", "What do I need before I install {it}?", "I'd like to know what {it} requires.",
        ),
        (
            "Which version of Python does {it} want?", "What must I have to use {it}?", "Will Python 3.11 do?", "Is an older Python good enough?",
            "What are the prerequisites for {it}?",
        ),
    ),
    Topic(
        ("updating", "uninstalling"),
        "For an update, run `git pull` in the clone and then `pip install .` again. `pip uninstall dflash-mlx` removes the program.",
        (
            "How do I update {it}?", "How do I upgrade {it}?", "update?", "How do I uninstall {it}?", "uninstall", "How do I remove {it}?", "How do I get the newest version?",
            "How do I delete {it}?", "Can you tell me how to update {it}?", "how to uninstall {it}", "How to update {it}?", "I want to remove {it}.", "upgrade", "remove it",
            "How can I get rid of {it}?",
        ),
        (
            "What do I do to update {it}?", "How can I uninstall {it}?", "How does one upgrade {it}?", "I don't want {it} any more, how do I remove it?",
        ),
    ),
    Topic(
        ("lossless decoding", "losslessness", "the same answer", "exactness"),
        "Yes, it is lossless: the target checks every drafted token, and what it would not write is thrown away. The drafter changes the speed, not the answer.",
        (
            "Is {it} lossless?", "is it lossless?", "Is it really lossless?", "lossless?", "lossless", "Are you lossless?", "Does {it} change the answer?",
            "Does the drafter change the answer?", "Does {it} change the output?", "Is the answer the same?", "Is the answer still the same?", "Do I get the same answer?",
            "same answer?", "Do I lose quality?", "Does {it} lose quality?", "Is there a quality loss?", "quality loss?", "Is the quality worse?", "Is the output identical?",
            "Is {it} exact?", "Does {it} make the model dumber?", "Are the answers worse?", "Is it as good as the original model?", "Does the speed cost quality?",
            "Does speculation change the text?", "Why is the answer the same?", "Why does speculation not change the text?", "Can a wrong draft get into the answer?",
            "Do drafts make mistakes in the answer?", "Is accuracy affected?", "any loss of accuracy?", "Is the result different from normal decoding?", "Is {it} lossy?",
            "Does sampling stay the same?", "does it lose quality", "Can you tell me if {it} is lossless?", "I'd like to know whether the answer stays the same.",
            "Does {it} hurt quality?", "Is the text the same as without drafts?", "Do I get worse answers with {it}?", "is it lossles?",
            "How can it be faster and still the same?", "Does {it} give the same result as the model alone?", "Is quality lost?", "Does DFlash change the answer?",
            "Is DFlash lossless?", "Does the small model lower the quality?",
        ),
        (
            "Will my answers get worse?", "Is anything lost?", "Does the text stay the same?", "Is quality affected by the drafter?", "Is speculative decoding lossless?",
            "Would the model alone have said the same?", "Do drafts spoil the answer?",
        ),
    ),
    Topic(
        ("your maker", "your makers", "your creator", "your author"),
        "I was made for dflash-mlx, by the people who write it. I am a tiny model that shows that the program works.",
        (
            "Who made you?", "who made u?", "Who created you?", "Who wrote you?", "Who trained you?", "Who built you?", "Who is your maker?", "Who are your makers?",
            "Who developed you?", "Who owns you?", "Who programmed you?", "Who is behind you?", "Which company made you?", "What company made you?", "what company are you from",
            "Where do you come from?", "Who made {it}?", "Who wrote {it}?", "Who created {it}?", "Who is behind {it}?", "Who develops {it}?", "Who are the authors?",
            "Were you made by OpenAI?", "Were you made by Google?", "Were you made by Anthropic?", "Were you made by Alibaba?", "Did Apple make you?", "Did OpenAI make you?",
            "Are you from OpenAI?", "Are you made by Apple?", "Is {it} from Apple?", "Who is your father?", "By whom were you made?", "who's your creator",
            "who trained this model", "who made this", "who wrote this", "Who wrote this program?", "Who invented you?", "Which company is behind this?", "Which company?",
            "Can you tell me who made you?", "I'd like to know who made you.", "Please tell me who created you.", "who maked you", "Who is the author?", "author?",
            "Who maintains {it}?", "Who made this model?", "Who designed you?", "Whose model are you?", "Do you belong to a company?", "Tell me about your maker.",
        ),
        (
            "Who is it that made you?", "Which people made you?", "Tell me who trained you.", "Do you know who wrote you?", "whose work are you", "What firm built you?",
            "May I ask who created you?",
        ),
    ),
    Topic(
        ("your training", "your training data"),
        "Rules wrote the text that I was trained on: sums, units, small functions and answers about dflash-mlx. No data came from elsewhere.",
        (
            "How were you made?", "How were you trained?", "What were you trained on?", "What data were you trained on?", "how was this model trained", "training data?",
            "What is your training data?", "Where does your knowledge come from?", "Did you read the internet?", "Were you trained on books?", "What is your knowledge cutoff?",
            "knowledge cutoff?", "Which data did you learn from?", "How did you learn?", "Where did you learn this?", "Were you trained on my data?",
            "Can you tell me how you were trained?", "I'd like to know what you were trained on.", "From what text did you learn?", "Are you trained on Wikipedia?",
            "how do u know things", "What did you learn from?", "Were you distilled from another model?", "what's in your training set", "Do you learn from me?",
            "When were you trained?",
        ),
        (
            "On what were you trained?", "Which text did you learn from?", "Tell me how you were trained.", "What was in your training data?",
            "Where does your training text come from?",
        ),
    ),
    Topic(
        ("yourself", "this model", "the demo pair", "the demo model", "the demo", "the embedded pair", "your name", "your size"),
        "I am the demo pair of dflash-mlx: a target of about four million parameters and a small drafter, both in 4 bits. I show that the program works; I am not an assistant.",
        (
            "Who are you?", "What are you?", "who r u", "who are u", "What is your name?", "what's your name", "your name?", "name?", "Do you have a name?",
            "Which model are you?", "What model are you?", "what model is this", "Which model is this?", "What kind of model are you?", "Are you ChatGPT?", "are you chat gpt",
            "are you gpt", "Are you GPT-4?", "Are you Qwen?", "Are you a Qwen model?", "Are you Claude?", "Are you Llama?", "Are you DeepSeek?", "Are you Siri?",
            "Are you an AI?", "Are you Gemini?", "Are you a language model?", "Are you a large language model?", "Are you an LLM?", "How big are you?", "how big r u",
            "How large are you?", "How many parameters do you have?", "parameters?", "What size are you?", "Are you small?", "Are you a real model?", "Are you an assistant?",
            "Are you a chatbot?", "Tell me about yourself.", "Introduce yourself.", "Describe yourself.", "What is in the demo pair?", "Why is there a demo pair?",
            "Why are you so small?", "Who am I talking to?", "who is this", "Am I talking to a model?", "Hello, who are you?", "Hi, what are you?", "Please tell me who you are.",
            "What is the demo for?", "Why is there a demo?", "Can you tell me what you are?", "I'd like to know who you are.", "What should I call you?", "Is this ChatGPT?",
            "Is this Qwen?", "How many bits do you have?", "Are you an expert?", "Are you intelligent?", "whats ur name", "Who is speaking?", "What version are you?",
        ),
        (
            "Which model do I talk to?", "What sort of model are you?", "Can you tell me who you are?", "How many weights do you have?", "Do I speak with ChatGPT or Qwen?",
            "By what name do you go?", "Is it a big model that answers me?",
        ),
    ),
    Topic(
        ("what you can do", "your abilities", "your skills"),
        "Ask me to add, subtract, multiply or divide small numbers, to convert units, to write a tiny Python function, or about dflash-mlx. I am its demo model.",
        (
            "What can you do?", "What do you know?", "What can I ask you?", "What can I ask?", "Help!", "help", "help pls", "help me", "/help", "What are you able to do?",
            "What are you good at?", "What should I ask you?", "What do you do?", "How can you help me?", "What can you help me with?", "Can you help me?", "can u help",
            "wat can u do", "what can you do?", "What questions can you answer?", "Which questions do you answer?", "Give me an example of a question.",
            "What kind of questions can I ask?", "Hello, can you help me?", "Hi, what can you do?", "what else can you do", "What can you answer?", "Tell me what you can do.",
            "What are you made for?", "Show me what you can do.", "Can you do math?", "Can you do maths?", "Can you calculate?", "Can you add numbers?", "Can you code?",
            "Can you write code?", "Can you convert units?", "Do you know Python?", "What topics do you know?", "Can you tell me what you can do?",
            "I'd like to know what you can do.", "Please tell me what I can ask you.", "What may I ask?", "What are your capabilities?", "capabilities?", "examples?",
            "Give me some example prompts.", "What should I try?", "What can this model do?", "What is the demo able to do?",
        ),
        (
            "What is it that you can do?", "What could I ask you?", "What things are you able to answer?", "Say what you can do.", "Name your skills.", "For what can I use you?",
            "Is there something you can help with?",
        ),
    ),
    Topic(
        ("your limits",),
        "As a demo I know only sums, units, small functions and dflash-mlx, in short answers, and I can be wrong. A real model can do more: run `dflash-mlx chat` on a Mac.",
        (
            "Why can't you answer that?", "Why do you not know that?", "why can you do so little", "Why are your answers so short?", "Why are you so short?", "why so short",
            "What are your limits?", "Why can't you answer other questions?", "Why do you always say the same?", "Why do you repeat yourself?", "Why are you so dumb?",
            "Are you dumb?", "Why don't you know anything?", "Can you be wrong?", "Do you make mistakes?", "Are your answers right?", "Can I trust you?",
            "Can I trust the answers?", "Why was your answer wrong?", "Your answer is wrong.", "Why can't you write a poem?", "Why don't you know history?", "what can't you do",
            "Can you tell me why you know so little?", "I'd like to know why your answers are so short.", "Why won't you answer?", "You did not answer my question.",
            "Is that all you can do?", "Can you do more?", "Can you talk longer?", "Give me a longer answer.", "How smart are you?", "Do you hallucinate?",
            "Can you browse the web?", "why cant you answer me", "limits?",
        ),
        (
            "Why is it that you know so little?", "What is it that you cannot do?", "How come your answers are this short?", "Could you be mistaken?",
            "Why do you refuse other questions?",
        ),
    ),
    Topic(
        ("the speed", "your speed", "the speed on a Mac", "the speedup", "the performance", "tokens per second"),
        "No speed was measured on a Mac yet, so I name none. Run `dflash-mlx bench`: it shows plain and drafted decoding on your machine.",
        (
            "How fast is {it}?", "How fast is this?", "how fast is this on an M4", "How fast is {it} on an M4?", "How fast is {it} on an M1?", "How fast is {it} on my Mac?",
            "How fast is {it} on a MacBook Air?", "How fast is {it} on an M3 Max?", "how fast is it on m2", "how fast on m4 pro", "What speed can I expect?",
            "How many tokens per second?", "How many tokens a second do I get?", "tokens per second?", "tok/s?", "tps?", "What is the speedup?", "speedup?",
            "How much faster is {it}?", "How much faster does {it} get?", "Is {it} fast?", "Is {it} really faster?", "Does {it} make my model faster?",
            "What is the fastest Mac for {it}?", "Is it two times faster?", "Is it faster than mlx-lm?", "Is it faster than llama.cpp?", "Is it faster than Ollama?",
            "benchmarks?", "Do you have benchmarks?", "What about speed?", "Where are the numbers?", "How fast will a 27B model run?", "speed on M5 Max", "How slow is {it}?",
            "Which speed was measured?", "performance?", "speed?", "speed", "how fast", "how fast r u", "Are you fast?", "Can you tell me how fast it is on an M4?",
            "I'd like to know how fast {it} is.", "Could you tell me the speed on an M3?", "What is the speed on an M2 Ultra?", "How fast is Qwen3.8 with {it}?",
            "How fast is DFlash?", "How fast does {it} run on a Mac mini?", "Did you measure the speed on a Mac?", "Was anything measured on a Mac?",
            "how many tokens per sec on m4 max", "What speed do you promise?", "How much time does {it} save?", "Is {it} worth it?",
        ),
        (
            "How fast would {it} be on an M5?", "What speedup do I get on a Mac?", "Can you tell me how fast {it} is?", "How quick is {it}?",
            "How many tokens per second on an M2 Pro?", "Which speed does {it} reach on an M4 Max?", "By what factor does {it} speed things up?",
        ),
    ),
    Topic(
        ("being slower", "the risk of being slower"),
        "Drafts are used only where they pay: `--block-size auto`, the default, measures your machine and lets the drafter rest otherwise. By design you keep at least 98% of plain speed.",
        (
            "Can {it} be slower?", "Can {it} make my model slower?", "Is it ever slower?", "Does {it} slow anything down?", "What if drafts do not pay?",
            "Can drafting cost time?", "Is it always faster?", "When is {it} not faster?", "When do drafts not pay?", "Does speculation always help?",
            "What happens if the drafter guesses badly?", "What does auto mean for the block size?", "slower?", "Why does the drafter rest?",
            "Can speculative decoding be slower?", "Could you tell me if {it} can be slower?", "Is {it} ever slower than plain decoding?", "What does the drafter cost?",
            "Does a bad drafter slow me down?", "Is there overhead?", "overhead?",
        ),
        (
            "May {it} turn out slower?", "Could drafts make it slower?", "Is there a case where {it} is slower?", "Does {it} help in every case?",
        ),
    ),
    Topic(
        ("the supported models", "supported models", "model support"),
        "Only Qwen models run: Qwen3, Qwen3.5, 3.6, 3.8 and Qwen3-Next, dense and MoE. Those with a DFlash drafter get faster, the others run plainly.",
        (
            "Which models does {it} support?", "What models does {it} support?", "what models are supported", "Which models work?", "Which models can I use?",
            "Which models can {it} run?", "Does {it} work with Llama?", "Does {it} support Llama?", "llama?", "Can I use Mistral?", "Does {it} run Gemma?",
            "Does {it} support Qwen?", "Does {it} run Qwen3?", "Can it run Qwen3.5?", "Does {it} run Qwen3.8?", "Does {it} support Qwen3-Next?", "Does {it} run Qwen3-Coder?",
            "Is my model supported?", "Does it work with any model?", "Does it support MoE models?", "moe?", "Can I use DeepSeek?", "which llms are supported",
            "Does {it} work with GPT?", "Does {it} run gpt-oss?", "Does it work with Phi?", "Does {it} run Qwen2.5?", "supported models?", "Which Qwen models work?",
            "Can you tell me which models {it} supports?", "I'd like to know what models work with {it}.", "Could you tell me what models I can use?", "wich models are suported",
            "Does {it} support dense models?", "Which model families are supported?", "Are 27B models supported?", "Are other models than Qwen supported?",
            "Does it run models with experts?", "What models work with DFlash?", "Can I run Llama 3?", "does it do mixture of experts", "models?",
        ),
        (
            "Which model families does {it} run?", "What models can I run with {it}?", "Can {it} run Llama models?", "Are MoE models supported?",
            "Will {it} take a Mistral model?", "For which models was {it} made?",
        ),
    ),
    Topic(
        ("the models command", "dflash-mlx models", "the list of models"),
        "All known models are listed by `dflash-mlx models`, with download, memory and drafter, and whether they fit your machine. With a NAME it tells all about one.",
        (
            "Which models are known?", "Where is the list of models?", "How do I list the models?", "list of models", "list models", "What does the models command do?",
            "Which drafters exist?", "How do I see all models?", "Which pairs are known?", "Show me the models.", "show models", "Which drafters are published?",
            "How do I find a drafter for my model?", "Is there a list of models?", "Can you tell me how to list the models?", "What models can I download?",
            "How do I see which models fit?", "which models fit my mac", "Is there a drafter for my model?", "Where do I see what models there are?", "What are the known pairs?",
            "What does dflash-mlx models do?", "How do I learn more about a model?", "names of models?", "I'd like to see a list of the models.", "Please list the models.",
            "Which Qwen models have a drafter?",
        ),
        (
            "How can I see the known models?", "Which command lists the models?", "Where can I look up the pairs?", "What does one use dflash-mlx models for?",
        ),
    ),
    Topic(
        ("using a real model", "a bigger model", "a real model", "the --model option", "--model"),
        "For a real model, run `dflash-mlx chat` on a Mac: it takes the best known one that fits your memory. `--model` names another one, `--drafter` its drafter.",
        (
            "How do I use a real model?", "How do I use a bigger model?", "How do I run a bigger model?", "How do I choose a model?", "How do I pick the model?",
            "How do I change the model?", "How do I use another model?", "How do I run Qwen?", "How do I use Qwen3.8?", "Can I use a better model?", "Where is the real model?",
            "How do I load a model?", "How do I switch models?", "What does --model do?", "What does --drafter do?", "Which model should I use?",
            "Which model is best for my Mac?", "Which model is the best?", "How do I get a smarter model?", "You are too dumb. How do I get a better model?", "bigger model?",
            "real model?", "better model pls", "how 2 use a bigger model", "Can you tell me how to use a real model?", "I'd like to use a real model.", "I want a bigger model.",
            "I want to talk to a real model.", "Tell me how to use a larger model.", "How do I download a model?", "How do I get Qwen3.5-9B?", "How do I run Qwen3.5-9B?",
            "Which model does chat use?", "What is the default model?", "How do I use a model from Hugging Face?", "How do I run a 27B model?",
            "Is there a bigger version of you?", "How do I replace you?", "How do I choose the drafter?", "how do i use a diffrent model",
        ),
        (
            "How can I run a larger model?", "How can I get another model?", "What do I do to use a real model?", "What must I type for a bigger model?",
            "Is there a way to use something smarter than you?", "Which option names the model?",
        ),
    ),
    Topic(
        ("the supported Macs", "the hardware", "Apple Silicon"),
        "Any Mac with Apple Silicon will do, M1 to M5. Intel Macs, iPhones and iPads are not supported.",
        (
            "Does {it} run on an Intel Mac?", "Which Macs are supported?", "which macs", "Which Mac do I need?", "Does {it} need a Mac?", "Do I need a Mac?",
            "Does it work on an M1?", "Does {it} run on an M4?", "Does {it} run on an M5?", "Does it work on m2 pro", "Does {it} run on my MacBook?",
            "Does {it} run on a MacBook Air?", "What hardware do I need?", "hardware?", "which chips are supported", "Can I use {it} on an iPhone?", "Does {it} run on an iPad?",
            "intel mac?", "intel?", "Does {it} work on old Macs?", "Is the M1 supported?", "Does {it} need Apple Silicon?", "Which machines does {it} run on?",
            "Can you tell me which Macs work?", "I'd like to know which Mac I need.", "Does it run on a Mac mini?", "Does {it} run on a Mac Studio?", "mac?",
            "Where does {it} run?", "What operating systems are supported?", "Where can I run {it}?", "Will it run on my 2019 MacBook Pro?", "Is my Mac supported?",
            "does it work on intel macs", "system requirements", "platforms?", "Does {it} need Metal?",
        ),
        (
            "On which machines does {it} run?", "What kind of Mac does {it} need?", "Would an Intel Mac work?", "Is an M3 good enough for {it}?", "Will {it} run on my Mac?",
        ),
    ),
    Topic(
        ("Linux support",),
        "On Linux it runs too, on the CPU, to try it out. It is made for Macs with Apple Silicon.",
        (
            "Does {it} run on Linux?", "Can I run {it} on Linux?", "linux?", "linux", "Does it work on Ubuntu?", "Does {it} run on a CPU?", "Can I run {it} on a Raspberry Pi?",
            "Is Linux supported?", "is there a linux version", "Does {it} work on Debian?", "Can I use {it} in Docker?", "Can I run {it} without a Mac?",
            "I have Linux. Can I use {it}?", "Does {it} run on a Linux server?", "I have no Mac.", "cpu only?", "Can you tell me if {it} runs on Linux?",
            "I'd like to run {it} on Linux.", "does it work on linux", "Can I try {it} without a Mac?", "Does {it} work without a GPU?", "Does {it} need a GPU?",
            "do i need a gpu", "Is there support for Linux?", "Will it work on Fedora?", "I use Linux.",
        ),
        ("Will {it} run on my Linux box?", "Can Linux users try {it}?", "How about Linux?", "Does the CPU alone suffice for {it}?"),
    ),
    Topic(
        ("Windows support",),
        "Windows is not supported. Use a Mac with Apple Silicon, or Linux on the CPU to try it.",
        (
            "Does {it} run on Windows?", "Does it work on windows", "Is there a Windows version?", "windows?", "windows", "Can I run {it} on Windows?", "Is Windows supported?",
            "I have Windows. Can I use {it}?", "Does {it} work on Windows 11?", "Will there be a Windows version?", "win11?", "does it run on a pc",
            "Can I install {it} on Windows?", "Can you tell me if {it} runs on Windows?", "I'd like to run {it} on Windows.", "How do I install {it} on Windows?",
            "Is there an exe?", "Does {it} run on Android?", "windoes support?", "Can I use {it} on my PC?", "pc?", "Is there support for Windows?", "Why not Windows?",
            "When does {it} come to Windows?", "I only have Windows.", "Can Windows run {it}?",
        ),
        ("Can {it} be used on Windows?", "What about Windows?", "Will it start on a Windows PC?", "Do Windows users get {it} too?"),
    ),
    Topic(
        ("NVIDIA support", "CUDA support"),
        "NVIDIA and AMD cards are not used. The GPU that counts is that of a Mac, through Metal; on Linux it runs on the CPU.",
        (
            "Does {it} run on NVIDIA?", "Does {it} use CUDA?", "Does it work with AMD?", "nvidia?", "cuda?", "gpu?", "Does {it} support NVIDIA GPUs?", "Can I use my RTX 4090?",
            "Does {it} work with CUDA?", "Can I use an NVIDIA card?", "Does {it} run on my graphics card?", "rocm?", "Does it use my GPU?", "Which GPUs are supported?",
            "Is CUDA supported?", "Does {it} run on a GPU server?", "Can I run {it} on an H100?", "amd?", "Can you tell me if {it} runs on NVIDIA?",
            "I have an NVIDIA GPU. Can I use {it}?", "does it run on nvidia gpus", "Does {it} need CUDA?", "Is there a CUDA version?", "Can I use my gaming GPU?",
            "Does {it} support AMD cards?",
        ),
        ("Will {it} use my NVIDIA card?", "Which graphics cards work with {it}?", "Is an RTX of any use to {it}?", "How about CUDA?"),
    ),
    Topic(
        ("the memory you need", "the RAM", "the memory requirements"),
        "How much memory you need depends on the model: about 4 GB for Qwen3.5-4B, 7 GB for Qwen3.5-9B, 19 GB for a 27B. `dflash-mlx models` says what fits.",
        (
            "How much memory do I need?", "How much RAM do I need?", "How much memory does {it} need?", "How much RAM does {it} use?", "Does {it} fit into 16 GB?",
            "Is 8 GB enough?", "Is 16 GB enough?", "Is 32 GB enough?", "Will it fit on my Mac?", "Does a 27B fit into 32 GB?", "ram?", "ram", "memory?", "memory requirements",
            "What fits into my memory?", "Which model fits into 24 GB?", "Can I run it with 8 GB of RAM?", "Is my memory enough?", "how many gb", "how many gb ram",
            "What can I run with 64 GB?", "Can you tell me how much memory I need?", "I'd like to know how much RAM {it} needs.", "Could you tell me if 16 GB is enough?",
            "how much memmory do i need", "Does the drafter need more memory?", "What model fits in 16gb?", "Is 128 GB enough for the 122B?", "How much memory does a 9B take?",
            "How much memory does Qwen3.8-27B need?", "minimum ram", "My Mac has 16 GB.", "I have 8 GB of RAM. What can I run?", "Does it need a lot of memory?",
            "How much unified memory do I need?", "What if the model does not fit?",
        ),
        (
            "How many GB does {it} need?", "What memory does my Mac need?", "Would 16 GB of RAM do?", "Is a Mac with 24 GB large enough?", "How much RAM should my Mac have?",
        ),
    ),
    Topic(
        ("the downloads", "the download folder"),
        "Downloads are kept in `~/.cache/huggingface`; `HF_HOME` moves them. A model is 3 to 70 GB, and you are asked before a download of 1 GB or more.",
        (
            "How big is the download?", "How much disk space do I need?", "Where are the models stored?", "Where are models saved?", "Where does {it} keep the models?",
            "How do I delete a model?", "disk space?", "How large are the models?", "Does {it} download anything?", "Does {it} ask before it downloads?",
            "How do I skip the download question?", "What is downloaded?", "Where do the models come from?", "How do I move the models?", "download size?",
            "how much does it download", "Can you tell me where the models are?", "I'd like to know how big the download is.", "Where is the cache?",
            "How many GB is the download?", "Does it use Hugging Face?", "Tell me where models are stored.", "model folder?", "What does HF_HOME do?",
            "How much must I download?",
        ),
        (
            "Into which folder do models go?", "How many GB do I have to download?", "On which disk do models land?", "Where can I find the downloaded models?",
        ),
    ),
    Topic(
        ("the licence", "the license", "the price"),
        "Free and open source: dflash-mlx is under the Apache-2.0 licence. The models that it loads have licences of their own.",
        (
            "Is {it} free?", "What does {it} cost?", "How much does {it} cost?", "What is the licence?", "What license does {it} have?", "Which license?", "license?", "licence?",
            "Is {it} open source?", "open source?", "Can I use {it} at work?", "Can I use {it} commercially?", "Do I have to pay?", "Is there a subscription?",
            "May I change the code?", "Can I see the source code?", "Where is the code?", "price?", "free?", "cost?", "Is the source public?", "Are you free?",
            "Are you open source?", "what licence is it under", "is dflash free", "Can you tell me if {it} is free?", "I'd like to know what {it} costs.",
            "Could you tell me the licence?", "Is {it} under MIT?", "Is {it} Apache licensed?", "May I use {it} in a product?", "Can I fork {it}?", "Is there a paid version?",
            "Can I sell what I build with {it}?", "does it cost money", "Is {it} free of charge?",
        ),
        (
            "Do I have to pay for {it}?", "Under which licence is {it}?", "Is it open-source software?", "May my company use {it}?", "What would {it} cost me?",
        ),
    ),
    Topic(
        ("privacy", "your privacy", "offline use"),
        "Everything runs on your own machine, and nothing that you write leaves it. Only downloading a model needs the internet.",
        (
            "Is {it} private?", "private?", "Is my data safe?", "Does my data leave my Mac?", "Does my data leave the machine?", "Do you send my data anywhere?",
            "Does {it} need the internet?", "Does {it} work offline?", "Can I use {it} offline?", "Do I need an internet connection?", "Do you store what I write?",
            "Is this chat recorded?", "Who can read my messages?", "Is {it} local?", "Does it run locally?", "local?", "Is there telemetry?", "telemetry?",
            "Does {it} phone home?", "Are you in the cloud?", "Do I need an account?", "Do I need an API key?", "Is it safe to use?", "privacy?", "offline?", "internet?",
            "Do you spy on me?", "Is {it} connected to the internet?", "Are you online?", "do u send data to apple", "Can you tell me if {it} is private?",
            "I'd like to know if my data stays here.", "Could you tell me whether {it} works offline?", "Where does my data go?", "Who sees my prompts?", "Do you share my data?",
            "Do I have to sign up?", "does it need wifi", "Does {it} use a cloud?", "Does it need a login?", "Is my prompt sent to a server?",
        ),
        (
            "Does anything leave my machine?", "Will {it} work without the internet?", "Who sees what I type?", "Are my prompts kept on this Mac only?",
            "Is a connection needed to use {it}?",
        ),
    ),
    Topic(
        ("leaving the chat", "/quit"),
        "Type `/quit` to leave the chat, or press Ctrl-D. Ctrl-C stops a reply.",
        (
            "How do I quit?", "how do i exit", "How do I leave the chat?", "How do I end the chat?", "How do I stop you?", "How do I stop a reply?", "quit", "exit", "quit?",
            "exit?", "How do I close this?", "How do I get out of here?", "stop", "How do I quit the chat?", "how to quit", "how 2 exit", "How can I exit?",
            "Which key ends the chat?", "close", "leave", "I want to quit.", "I want to leave.", "Can you tell me how to quit?", "I'd like to know how to leave the chat.",
            "Tell me how to exit.", "What does /quit do?", "What does Ctrl-C do?", "What does Ctrl-D do?", "end chat", "let me out", "How do I interrupt you?", ":q", "q",
            "how do i stop this thing", "How do I go back to the shell?",
        ),
        (
            "How can I leave the chat?", "How do I get out of the chat?", "Which command ends the chat?", "What must I type to quit?", "Is there a way to exit?",
        ),
    ),
    Topic(
        ("the chat commands", "the slash commands", "the help command of the chat"),
        "`/help` lists the commands of the chat: for example `/retry`, `/edit`, `/undo`, `/save`, `/load`, `/export`, `/think` and `/set`.",
        (
            "Which commands does the chat have?", "How do I get help in the chat?", "How do I save a chat?", "How do I save this conversation?", "What does /help do?",
            "How do I undo?", "How do I retry?", "How do I edit my message?", "What commands are there?", "commands?", "commands", "list of chat commands", "slash commands?",
            "How do I load a saved chat?", "How do I export the chat?", "How do I copy a reply?", "What does /retry do?", "What does /undo do?", "What does /save do?",
            "What does /set do?", "Can you tell me which commands I can type?", "I'd like to know the commands of the chat.", "What can I type here?",
            "Which slash commands exist?", "How do I change settings in the chat?", "how do i save",
        ),
        (
            "What are the commands of the chat?", "How can I save our conversation?", "Which commands may I type?", "Where do I see all chat commands?",
        ),
    ),
    Topic(
        ("the chat", "the chat command", "dflash-mlx chat"),
        "The chat command holds a conversation in the terminal: `dflash-mlx chat`, with a model's name after it if you like. Every turn reads only what is new.",
        (
            "How do I start the chat?", "How do I chat?", "What does chat do?", "chat?", "chat", "How do I talk to a model?", "How do I have a conversation?", "Is there a chat?",
            "Can I chat with a model?", "How do I open the chat?", "What does dflash-mlx chat do?", "How do I start a conversation?", "how to chat",
            "Does the chat remember what I said?", "Does the chat keep the context?", "Can you tell me how to start the chat?", "I'd like to chat with a model.",
            "Which command starts a chat?", "Is there a chat mode?", "Can the chat show Markdown?", "How do I run the chat?", "interactive mode?", "Does {it} have a chat?",
            "How do I chat with Qwen?", "Tell me how to start a chat.", "start chat",
        ),
        (
            "How can I begin a chat?", "Which command opens a conversation?", "What is dflash-mlx chat there for?", "Is it possible to chat?",
        ),
    ),
    Topic(
        ("reporting a bug", "a bug report"),
        "Report a bug as an issue in the repository: what you ran, what you saw, and the output of `dflash-mlx doctor`.",
        (
            "How do I report a bug?", "I found a bug.", "bug?", "bug", "report a bug", "Where do I report bugs?", "Where can I report an issue?", "How do I file an issue?",
            "Where do I send feedback?", "Whom do I tell about a bug?", "How to report a problem?", "bug report", "How do I contact the developers?", "How can I contact you?",
            "support?", "Where do I get support?", "Can you tell me how to report a bug?", "I'd like to report a bug.", "Could you tell me where to report a bug?",
            "There is a bug in {it}.", "how 2 report bugs", "Where can I ask a question?", "How do I ask for a feature?", "feature request", "Is there an issue tracker?",
            "feedback?", "I want to report a problem.",
        ),
        (
            "How can I report an error?", "Where do bug reports go?", "What do I do when I have found a bug?", "Whom can I tell about a problem with {it}?",
        ),
    ),
    Topic(
        ("the doctor", "the doctor command", "dflash-mlx doctor"),
        "The doctor command, `dflash-mlx doctor`, checks machine, installation and model: each Metal kernel, what a cycle costs, what is wrong and what to do about it.",
        (
            "How do I check my installation?", "Something is wrong. What do I do?", "Is my installation right?", "What does doctor do?", "doctor?", "doctor", "It does not work.",
            "it doesnt work", "How do I find out what is wrong?", "It is slow. What can I do?", "Why is {it} slow?", "Why is it so slow on my Mac?", "It crashes.",
            "{it} crashes. What now?", "I get an error.", "troubleshooting", "How do I debug {it}?", "What if something goes wrong?", "How do I test my setup?",
            "How do I know that it works?", "Is everything OK with my Mac?", "Can you tell me how to check the installation?", "I'd like to check my installation.",
            "{it} is broken.", "Help, it does not start.", "not working", "Which command finds problems?", "How do I check the kernels?", "What does dflash-mlx doctor do?",
        ),
        (
            "How can I check the installation?", "Which command checks the machine?", "What do I run when something is wrong?", "Is there a self-test?",
        ),
    ),
    Topic(
        ("MLX", "mlx-lm"),
        "MLX is Apple's array library for its own chips, and mlx-lm runs language models on it. dflash-mlx stands on both.",
        (
            "Does {it} use MLX?", "What is {it} built on?", "Is {it} based on mlx-lm?", "Does {it} use mlx-lm?", "What does mlx stand for?", "mlx?", "What is mlx?", "Why MLX?",
            "Do I need MLX?", "Is MLX from Apple?", "Which libraries does {it} use?", "Does {it} need mlx-lm?", "What is {it} based on?", "Is MLX installed too?",
            "Can you tell me what MLX is?", "I'd like to know what MLX is.", "which framework does it use", "Does {it} use PyTorch?", "pytorch?", "Who makes MLX?",
            "Tell me what MLX is for.", "Is {it} part of MLX?", "mlx lm?", "Which array library does {it} use?",
        ),
        ("What does {it} stand on?", "On which library is {it} built?", "What has MLX to do with {it}?", "Is PyTorch needed?"),
    ),
    Topic(
        ("the source language of dflash-mlx",),
        "It is written in Python, on Apple's MLX, with Metal kernels for the GPU of a Mac.",
        (
            "What is {it} written in?", "What language is {it} written in?", "Is {it} written in Python?", "Is {it} written in Rust?", "Is {it} written in C++?",
            "Which programming language is {it} in?", "what language is it", "Is {it} a Python program?", "What is the code written in?", "python or c++?",
            "Is {it} written in Swift?", "written in?", "What is this written in?", "Can you tell me what {it} is written in?", "I'd like to know what language {it} uses.",
            "Which language did they use for {it}?", "what's it coded in", "Is it pure Python?", "In what is {it} programmed?", "What programming language does {it} use?",
            "Tell me what {it} is written in.", "programming language?", "Which language is used?", "wat language is it written in", "Is the code Python?",
            "Please tell me which language {it} is written in.",
        ),
        (
            "In which language is {it} written?", "What was {it} programmed in?", "Which language is the code in?", "Did they write {it} in Rust or Python?",
        ),
    ),
    Topic(
        ("llama.cpp", "Ollama", "LM Studio", "the difference to llama.cpp"),
        "Other programs such as llama.cpp and Ollama have other engines. dflash-mlx uses mlx-lm's models and adds DFlash drafts, which the target checks.",
        (
            "How does {it} differ from mlx-lm?", "How does {it} differ from llama.cpp?", "How does {it} differ from Ollama?", "Why not use llama.cpp?",
            "Why not just use Ollama?", "What is the difference to Ollama?", "Compare {it} with LM Studio.", "Is {it} better than Ollama?", "Is {it} better than llama.cpp?",
            "Is {it} better than mlx-lm?", "{it} or Ollama?", "{it} vs llama.cpp", "{it} vs ollama", "{it} vs mlx-lm", "Is {it} like Ollama?", "Is {it} a fork of llama.cpp?",
            "Does {it} work with Ollama?", "Can I use {it} in LM Studio?", "Why not vLLM?", "Does {it} use llama.cpp?", "ollama?", "What does {it} do that mlx-lm does not?",
            "Can you tell me how {it} differs from Ollama?", "I'd like to know the difference to llama.cpp.", "Could you compare {it} and Ollama?",
            "I use Ollama. Why should I switch?", "what makes it diffrent from ollama", "What is special about {it}?", "alternatives?",
        ),
        (
            "How is {it} different from Ollama?", "What sets {it} apart from mlx-lm?", "In what way is {it} unlike llama.cpp?", "Should I take Ollama or {it}?",
        ),
    ),
    Topic(
        ("the Python API", "the Python interface", "the library"),
        'From Python: `import dflash_mlx`, then `pair = dflash_mlx.load("demo")` and `pair.generate("...").text`. `pair.stream` yields the answer in pieces.',
        (
            "How do I use {it} from Python?", "Can I use {it} from Python?", "How do I import {it}?", "Is there a Python API?", "How do I call {it} in my code?", "python api?",
            "python?", "How do I load a pair in Python?", "How do I stream in Python?", "Can I use {it} as a library?", "How do I use the library?",
            "How do I generate text in Python?", "Show me a Python example.", "import dflash_mlx?", "import dflash_mlx", "how 2 use from python", "Can I import {it}?",
            "Is {it} a Python package?", "What does dflash_mlx.load do?", "How do I use dflash_mlx?", "Does {it} have an API for Python?", "Can I use {it} in a notebook?",
            "Can I use {it} in my program?", "Can you tell me how to use {it} from Python?", "I'd like to use {it} from Python.",
            "Could you show me how to call {it} from Python?", "code example?", "example code pls", "How do I write a program with {it}?", "use from python", "dflash_mlx.load",
            "How do I load a model in Python?", "Is there a library?",
        ),
        (
            "How is {it} used from Python code?", "How do I call the library?", "Does {it} have a Python interface?", "What do I import to use {it}?",
            "Which Python function loads a model?",
        ),
    ),
    Topic(
        ("a server", "the server", "an HTTP server", "the OpenAI API"),
        "`dflash-mlx --help` lists what it can do on the command line, and `import dflash_mlx` does the same from Python.",
        (
            "Is there a server?", "Does {it} have a server?", "Can I use {it} with my editor?", "Does {it} speak the OpenAI API?", "How do I start the server?",
            "Can I use {it} over HTTP?", "Is there a web interface?", "Does {it} have a GUI?", "gui?", "Is there an app?", "Can I use it in VS Code?", "server?", "server",
            "Is there a REST API?", "rest api?", "api?", "Is there an API?", "Does {it} have an API?", "Does it work with Open WebUI?", "How do I connect my editor?",
            "Is there a serve command?", "dflash-mlx serve", "Can I use {it} with Cursor?", "openai compatible?", "Is there an OpenAI-compatible server?", "Can I host {it}?",
            "Can several people use {it}?", "Is there a Mac app?", "Can you tell me if there is a server?", "I'd like to run {it} as a server.", "Could {it} serve an API?",
            "how do i start teh server", "Is there a web UI?", "Can other programs call {it} over the network?", "Will there be a server?",
        ),
        (
            "Can {it} serve over HTTP?", "Is there a web page for {it}?", "Does a server come with {it}?", "How about an OpenAI endpoint?", "May I reach {it} over the network?",
        ),
    ),
    Topic(
        ("converting a model", "the convert command", "conversion", "dflash-mlx convert"),
        "The convert command turns a published model or your fine-tune into a 4-bit MLX folder: `dflash-mlx convert target SOURCE -o FOLDER`. It compares the result with the source.",
        (
            "How do I convert a model?", "How do I convert my own model?", "How do I quantise a model?", "How do I quantize my model?", "Can I convert my fine-tune?",
            "What does convert do?", "Can I use a GGUF file?", "gguf?", "How do I make a 4-bit model?", "convert?", "convert", "How do I use my fine-tune?",
            "Can {it} convert models?", "How do I turn my checkpoint into MLX?", "how do i use my own model", "how to convert a model", "convert my model",
            "Does {it} read safetensors?", "Can I use my own weights?", "How do I get my model into MLX's format?", "Can I use a fine-tuned Qwen?",
            "Can you tell me how to convert a model?", "I'd like to convert my own model.", "Could you tell me how to quantise my model?", "how 2 convert", "quantize?",
            "How do I convert a drafter?", "What does dflash-mlx convert do?", "I have a fine-tune. What now?", "How do I use a model that is not in MLX format?",
        ),
        (
            "How can I convert a checkpoint?", "Which command converts a model?", "What do I run to quantise my weights?", "Is it possible to bring a model of my own?",
        ),
    ),
    Topic(
        ("training a drafter", "a drafter of your own", "dflash_mlx.training"),
        "`dflash_mlx.training` trains a drafter for a target from Python, on text of your own.",
        (
            "Can I train a drafter?", "How do I train a drafter?", "How do I train my own drafter?", "How do I make a drafter?", "Can I train you?", "Can I fine-tune you?",
            "Is there a train command?", "Does my fine-tune need a new drafter?", "train?", "training?", "train a drafter", "how to train a drafter", "Can {it} train models?",
            "Can {it} fine-tune a model?", "Is there code to train a drafter?", "What is dflash_mlx.training?", "Can you tell me how to train a drafter?",
            "I'd like to train a drafter.", "I want my own drafter.", "There is no drafter for my model.", "Can I make a drafter for Llama?", "How are drafters trained?",
            "How do I get a drafter for my fine-tune?", "finetune?", "dflash-mlx train",
        ),
        (
            "How can I get a drafter of my own?", "Can {it} train drafters?", "Is it possible to teach a drafter?", "What trains a drafter?",
        ),
    ),
    Topic(
        ("the bench command", "dflash-mlx bench", "the benchmark"),
        "The bench command answers the same prompts by plain decoding and with drafts, in turn, and compares speed, acceptance, memory and answers. `--limit 3` makes it shorter.",
        (
            "What does bench do?", "How do I measure the speed?", "How do I benchmark {it}?", "How do I run the benchmark?", "bench?", "bench", "benchmark?", "benchmark",
            "How can I measure my Mac?", "Is there a benchmark?", "how to benchmark", "How do I test the speed on my Mac?", "What does the benchmark measure?",
            "Which command measures the speed?", "How long does the benchmark take?", "How do I compare plain and drafted decoding?", "Can you tell me how to measure the speed?",
            "I'd like to benchmark my Mac.", "What does dflash-mlx bench do?", "Can I use my own prompts in the benchmark?", "How do I make the benchmark shorter?",
            "How do I find out how fast my Mac is?", "run a benchmark", "how do i bench", "Tell me how to benchmark {it}.",
        ),
        (
            "How can I measure the speed here?", "Which command runs the benchmark?", "What is compared by dflash-mlx bench?", "Where do I get figures for my machine?",
        ),
    ),
    Topic(
        ("the demo command", "dflash-mlx demo"),
        "The demo command, `dflash-mlx demo`, shows plain and drafted decoding side by side in a few seconds, with the demo model. It downloads nothing.",
        (
            "What does dflash-mlx demo do?", "How do I run the demo?", "How do I start the demo?", "What does the demo show?", "Is there a demo command?",
            "What does the demo command do?", "demo?", "demo", "Can I try {it} without a download?", "How do I try {it}?", "Can I try it out quickly?",
            "How do I see that it works?", "Is there a quick demo?", "run demo", "Can you tell me how to run the demo?", "I'd like to see a demo.", "Show me a demo.",
            "side by side?", "How can I try {it} first?", "try it",
        ),
        (
            "Which command runs the demo?", "How can I try {it} in a few seconds?", "Is there something to try without downloading?", "What do I see in dflash-mlx demo?",
        ),
    ),
    Topic(
        ("the generate command", "dflash-mlx generate"),
        "The generate command answers one prompt and stops. The text goes to standard output and all else to standard error, so it fits scripts and pipes.",
        (
            "How do I run a prompt?", "Which command answers a prompt?", "What does generate do?", "generate?", "generate", "How do I ask a single question?",
            "Can I use {it} in a script?", "Can I use {it} in a pipe?", "How do I pipe a file into {it}?", "How do I summarise a file with {it}?",
            "What does dflash-mlx generate do?", "How do I run {it} once?", "How do I run one prompt?", "how to use generate", "How do I use {it} on the command line?",
            "Can you tell me how to run a prompt?", "I'd like to use {it} in a script.", "one-shot?", "Where does the output go?", "Can I send the answer to a file?",
            "How do I save the answer to a file?", "Does {it} read stdin?", "How do I get an answer without the chat?", "Tell me how to run one prompt.",
            "Can I call {it} from a shell script?",
        ),
        (
            "How do I use the generate command?", "Which command fits into a pipe?", "How can I get one answer and stop?", "Is there a command for scripts?",
        ),
    ),
    # ---- how it works
    Topic(
        ("speculative decoding", "speculation", "speculative generation"),
        "In speculative decoding a small drafter guesses the next few tokens, and the large target checks all of them in one pass. What passes is kept, so one pass can yield several tokens.",
        (
            "How does speculative decoding work?", "How does speculation work?", "How do you answer so fast?", "speculative decoding?", "what is spec decoding",
            "what is speculative decodng", "Explain speculative decoding to me.", "Can you tell me what speculative decoding is?",
            "I'd like to know what speculative decoding is.", "Could you explain how speculative decoding works?", "What is the trick?",
            "How can several tokens come from one pass?", "How does one pass yield several tokens?", "What's speculative decoding about?",
            "What is the idea of speculative decoding?", "speculation?", "Is speculative decoding new?", "why is it called speculative", "How do draft and check work together?",
            "Teach me speculative decoding.", "What is speculative sampling?", "How do drafter and target work together?", "explain spec decoding",
            "What do you mean by speculative?", "Speculative decoding in one sentence?", "Do you use speculative decoding?", "Does {it} use speculative decoding?",
        ),
        (
            "In what way does speculative decoding work?", "What is the principle of speculative decoding?", "How is it that a pass gives many tokens?",
            "Say in a sentence what speculation is.",
        ),
    ),
    Topic(
        ("DFlash", "a DFlash drafter", "block diffusion"),
        "DFlash is a way to draft: a small block-diffusion model fills a whole block of tokens in one pass, fed with the target's hidden states. The target then checks the block.",
        (
            "How does DFlash work?", "DFlash?", "What does DFlash do?", "What does DFlash mean?", "Why is it called DFlash?", "dflash explained", "What's DFlash about?",
            "So what is this DFlash thing?", "Who uses DFlash?", "what is dflash", "wat is dflash", "Can you tell me what DFlash is?", "I'd like to know what DFlash is.",
            "Could you explain DFlash? I am new.", "How is DFlash different from other drafters?", "Is DFlash a model?", "What is the idea of DFlash?", "What is a DFlash model?",
            "dflash", "What is DFlash good for?", "explain dflash to me", "How does block diffusion work?", "Is DFlash diffusion?", "Does DFlash draft all tokens at once?",
            "How does DFlash guess?", "Why DFlash?", "dflash in short",
        ),
        (
            "What is DFlash all about?", "How does DFlash draft?", "Give me DFlash in a sentence.", "In what way does DFlash draft a block?", "What is the method behind DFlash?",
        ),
    ),
    Topic(
        ("DFlash 2", "DFlash2", "the second DFlash"),
        "DFlash 2 adds two things to DFlash: short convolutions inside the block, and a selector that picks candidates which fit together.",
        (
            "What is new in DFlash 2?", "What is the difference between DFlash and DFlash 2?", "How does DFlash 2 differ from DFlash?", "DFlash or DFlash 2?",
            "Is DFlash 2 better?", "dflash 2?", "dflash2", "What changed in DFlash 2?", "what's new in dflash 2", "Does {it} support DFlash 2?",
            "Can you tell me what DFlash 2 adds?", "I'd like to know what DFlash 2 is.", "Why DFlash 2?", "DFlash vs DFlash 2", "Compare DFlash and DFlash 2.",
            "How does DFlash 2 work?", "Is DFlash 2 new?", "What does the 2 in DFlash 2 mean?", "Do you use DFlash 2?", "difference dflash dflash 2",
        ),
        (
            "What does DFlash 2 add?", "Why is DFlash 2 better than DFlash?", "In what does DFlash 2 differ?", "How is the second DFlash unlike the first?",
        ),
    ),
    Topic(
        ("z-lab", "the DFlash paper"),
        "The DFlash method is z-lab's, and so are its published drafters. The paper is arXiv 2602.06036.",
        (
            "Who invented DFlash?", "Who made DFlash?", "Where does DFlash come from?", "Is there a paper?", "paper?", "Where is the DFlash paper?", "Who trained the drafters?",
            "Where can I read about DFlash?", "Who wrote the DFlash paper?", "Which paper describes DFlash?", "arxiv?", "Where do the drafters come from?",
            "Who publishes the drafters?", "Who is z-lab?", "Did you invent DFlash?", "Can you tell me who invented DFlash?", "I'd like to read the paper.",
            "Is DFlash by Alibaba?", "What should I cite?", "link to the paper",
        ),
        ("By whom is DFlash?", "Which lab came up with DFlash?", "Where can I find the paper on DFlash?", "Whose method is DFlash?"),
    ),
    Topic(
        ("Qwen", "the Qwen models"),
        "Qwen is a family of open language models by Alibaba. dflash-mlx runs Qwen3 and its successors.",
        (
            "Who makes Qwen?", "What is Qwen3?", "What is Qwen3.5?", "What is Qwen3.8?", "qwen?", "Who made Qwen?", "Which company makes Qwen?", "Is Qwen by Alibaba?",
            "Why Qwen?", "What is a Qwen model?", "Can you tell me what Qwen is?", "I'd like to know what Qwen is.", "Is Qwen open?", "Tell me who makes Qwen.", "qwen",
        ),
        ("Who is behind Qwen?", "From which company is Qwen?", "What kind of model is Qwen?"),
    ),
    Topic(
        ("a drafter", "the drafter", "the draft model", "drafter", "draft model"),
        "The drafter is a small model that guesses a block of tokens in one pass. It reads hidden states of the target. A wrong guess only costs time, because the target checks every token.",
        (
            "What does the drafter do?", "What does a drafter do?", "How does the drafter work?", "drafter?", "what's a drafter", "What is the small model for?",
            "Who guesses the tokens?", "Which model makes the guesses?", "What if the drafter is wrong?", "Is the drafter always right?", "How big is the drafter?",
            "Why is there a second model?", "Why do I need two models?", "Why a drafter?", "Can you tell me what the drafter does?", "I'd like to know what a drafter is.",
            "Could you explain what the drafter does?", "What is the drafter good at?", "Does the drafter write the answer?", "Is the drafter a language model?",
            "drafter meaning", "What is the job of the drafter?", "What is the draft model for?", "what does teh drafter do", "What happens when the drafter guesses wrong?",
            "How does the drafter guess?",
        ),
        ("What is the task of the drafter?", "What work does the small model do?", "Which part makes guesses?", "Who makes the drafts?"),
    ),
    Topic(
        ("the target", "the target model", "a target model", "target", "target model"),
        "The target is the model whose answer you want. It checks every drafted token, keeps those that pass, and adds its own next token.",
        (
            "What does the target do?", "What does the target model do?", "How does the target work?", "target?", "what's the target", "Which model writes the answer?",
            "Who decides what is written?", "What is the large model for?", "Who checks the drafts?", "Which model checks?", "Can you tell me what the target is?",
            "I'd like to know what the target does.", "Is the target the big model?", "Is Qwen the target?", "What is the target in {it}?", "Why is it called target?",
            "target meaning", "Which of the two models decides?", "Who has the last word?", "What is the job of the target?", "whats the target model", "What is the main model?",
            "Who picks the tokens?",
        ),
        (
            "What is the task of the target?", "Which of the models has the say?", "What work does the large model do?", "Whose answer do I get?",
        ),
    ),
    Topic(
        ("a draft", "the drafts", "drafted tokens", "draft tokens"),
        "Drafts are tokens that the drafter proposes for the next places. The target keeps them up to the first that it would not write itself.",
        (
            "What are drafts?", "What is a drafted token?", "When is a draft kept?", "When is a draft accepted?", "Which drafts are kept?", "How many drafts are kept?", "draft?",
            "drafts?", "What does accepted mean?", "What is an accepted token?", "Which drafts are accepted?", "Can you tell me what a draft is?",
            "I'd like to know what drafts are.", "How long is a draft?", "Who writes the drafts?", "Why are drafts needed?", "what's a draft", "When is a token accepted?",
            "How does acceptance work?", "What is acceptance?", "draft tokens?", "When is a draft thrown away?",
        ),
        (
            "What is meant by drafted tokens?", "Up to where are drafts kept?", "Under which condition is a draft accepted?", "What makes a draft pass?",
        ),
    ),
    Topic(
        ("the acceptance length", "acceptance length", "tau"),
        "Acceptance length is the mean number of tokens that one cycle adds: the kept drafts and the one token that the target adds itself. Higher is faster, at the same cost per cycle.",
        (
            "acceptance length?", "What is a good acceptance length?", "What does the acceptance length tell me?", "How is the acceptance length computed?",
            "How is acceptance length measured?", "How many tokens does a cycle add?", "How many tokens does a pass give?", "what's acceptance length",
            "What does acceptance length 4 mean?", "What is tau in the output?", "Is a higher acceptance length better?", "Can you tell me what the acceptance length is?",
            "I'd like to know what acceptance length means.", "What is the acceptance rate?", "acceptence length", "Why is my acceptance length low?",
            "What does the last line mean?", "What do the statistics mean?", "How many tokens per pass?", "Where do I see the acceptance length?",
        ),
        (
            "How does one read the acceptance length?", "What does a low acceptance length say?", "How many tokens come from one cycle on average?",
            "What is counted in the acceptance length?",
        ),
    ),
    Topic(
        ("a block", "the block", "block"),
        "A block is the anchor, which is the newest token, and the places after it that the drafter fills. The target checks the whole block in one pass.",
        (
            "What does a block hold?", "What is in a block?", "block?", "What's a block?", "What is a block of tokens?", "Why are there blocks?", "How is a block filled?",
            "How is a block checked?", "What does block mean here?", "Can you tell me what a block is?", "I'd like to know what a block is.", "What are the places of a block?",
            "Who fills the block?", "what is inside a block", "Why does it work in blocks?", "What are the rows of a block?", "Where does a block begin?",
            "How does a block look?",
        ),
        ("What belongs to a block?", "What does one block consist of?", "Which tokens stand in a block?", "How is a block made?"),
    ),
    Topic(
        ("the block size", "the size of a block", "block size"),
        "Block size is the number of rows in one check: the newest token and the drafts. A block size of 4 means three drafts. Larger blocks pay only when the drafter guesses well.",
        (
            "How large is a block?", "How many tokens are in a block?", "How long is a block?", "block size?", "What is a good block size?", "Which block size is best?",
            "Is a larger block better?", "What does block size 4 mean?", "What does block size 8 mean?", "How many drafts are in a block?", "what's block size",
            "Can you tell me what the block size is?", "I'd like to know what block size means.", "Why not use larger blocks?", "Should I use a large block?",
            "How many tokens are drafted at once?", "How many tokens are guessed at once?", "blocksize?", "How many rows has a block?", "Which block size should I take?",
        ),
        (
            "How many rows are in one check?", "What is the best block size?", "Why is a huge block not better?", "How many drafts does a block of 4 have?",
        ),
    ),
    Topic(
        ("the --block-size option", "--block-size", "the block-size option"),
        "With `--block-size N` a check has N rows: one known token and N-1 drafts. 1 means plain decoding, and `auto`, the default, takes what is fastest here.",
        (
            "How do I set the block size?", "How do I turn off the drafter?", "What does --block-size do?", "What does --block-size 1 do?", "What does --block-size auto do?",
            "How do I change the block size?", "How do I turn off speculation?", "How do I disable drafts?", "Which option sets the block size?", "--block-size?",
            "Can you tell me how to set the block size?", "I'd like to set the block size.", "What is the default block size?", "How do I run without drafts?",
            "Can I choose the block size?", "how to set blocksize", "What values does --block-size take?", "How do I switch off speculative decoding?", "set block size",
            "Can I turn drafting off?",
        ),
        (
            "How can I set the block size?", "Which option turns drafts off?", "What is the option for the size of a block?", "How can I decode without drafts?",
        ),
    ),
    Topic(
        ("the anchor", "an anchor", "anchor"),
        "The anchor is the newest token of the text. It is the first row of every block, and the drafter guesses what comes after it. After a cycle the last new token is the next anchor.",
        (
            "What does the anchor do?", "Where is the anchor?", "anchor?", "What's the anchor?", "What's an anchor?", "Which token is the anchor?",
            "What is the first row of a block?", "What is the first token of a block?", "Why is there an anchor?", "Why is it called anchor?",
            "Can you tell me what the anchor is?", "I'd like to know what the anchor is.", "Is the anchor a draft?", "What becomes the next anchor?",
            "When does the anchor change?", "What is the anchor token?", "anker?", "what does anchor mean", "Who chooses the anchor?", "What is the newest token called?",
        ),
        (
            "What is the anchor for?", "Which token comes first in a block?", "How is the next anchor found?", "What stands in the first row?",
        ),
    ),
    Topic(
        ("a mask token", "the mask token", "the mask", "mask token"),
        "A mask token marks a place that the drafter has to fill. A block starts with the anchor, and every other row is a mask. The drafter fills all of them at once.",
        (
            "What are mask tokens?", "What are masks?", "mask?", "mask token?", "What does a mask mark?", "Why are there masks?", "What does the drafter fill?",
            "Are all masks filled at once?", "How many masks are in a block?", "What's a mask token?", "Can you tell me what a mask token is?",
            "What stands in the other rows of a block?", "Does the drafter fill one mask after the other?", "Where are the masks?", "what is masking",
        ),
        ("What is a mask good for here?", "Which places are masks?", "How are the masks filled?", "What do mask tokens stand for?"),
    ),
    Topic(
        ("the selector", "the candidate selector", "selector", "candidate selector"),
        "The selector belongs to DFlash 2. It walks through the best candidates of each place and picks one path, with a score for each pair of neighbours, so that the drafts fit together.",
        (
            "What does the selector do?", "How does the selector pick a path?", "What does the candidate selector do?", "selector?", "How does the selector work?",
            "How are candidates chosen?", "Which candidate is taken?", "Why is there a selector?", "What's the selector?", "What does the selector select?",
            "How do the drafts fit together?", "What are candidates?", "Can you tell me what the selector does?", "How does DFlash 2 choose its drafts?",
            "Where is the selector?",
        ),
        (
            "What is the task of the selector?", "How is one path picked?", "How does the selector choose?", "What scores pairs of neighbours?",
        ),
    ),
    Topic(
        ("a rollback", "the rollback", "rollback"),
        "A rollback forgets the rows that were checked but not kept. Attention masks old rows by position, without work. Recurrent layers take in only the kept rows.",
        (
            "What happens to rejected tokens?", "What happens to rejected drafts?", "What happens to a wrong guess?", "rollback?", "How does rollback work?",
            "What happens after a rejection?", "How are rejected tokens removed?", "Where do rejected drafts go?", "How are wrong drafts forgotten?", "What's a rollback?",
            "Does a rollback cost time?", "Is a rollback expensive?", "What if a draft is rejected?", "Can you tell me what a rollback is?", "What about the tokens that fail?",
        ),
        (
            "What becomes of rejected tokens?", "How does it forget wrong drafts?", "How are failed rows undone?", "What is done about rows that were not kept?",
        ),
    ),
    Topic(
        ("Gated DeltaNet", "a Gated DeltaNet layer", "a recurrent layer", "recurrent layers"),
        "Gated DeltaNet is a recurrent layer with a state of fixed size. Each token fades the state a little and writes one correction into it, at a cost that does not grow with the text.",
        (
            "How does Gated DeltaNet work?", "What does Gated DeltaNet do?", "gated deltanet?", "deltanet?", "gdn?", "What are recurrent layers?", "What is linear attention?",
            "Why is its state of fixed size?", "What's Gated DeltaNet?", "What is a recurrent state?", "Can you tell me what Gated DeltaNet is?",
            "How does a recurrent layer work?", "What is GDN?", "Why is Gated DeltaNet cheap?", "What does DeltaNet mean?",
        ),
        (
            "What is special about Gated DeltaNet?", "How is the state of a recurrent layer changed?", "What kind of layer is DeltaNet?",
            "Which layer has a state of fixed size?",
        ),
    ),
    Topic(
        ("a cycle", "the cycle", "one cycle", "cycle"),
        "A cycle has four steps: draft, verify, accept and commit. The drafter guesses, the target checks, the agreed part is kept, and the state moves on.",
        (
            "What happens in a cycle?", "What happens in one cycle?", "What are the steps of a cycle?", "cycle?", "What's a cycle?", "How does a cycle work?",
            "How many steps has a cycle?", "What is the first step of a cycle?", "What are the four steps?", "What is the commit step?", "What is the accept step?",
            "Can you tell me what a cycle is?", "I'd like to know what happens in a cycle.", "How does a cycle end?", "What comes after the draft?",
            "What is a round of drafting?", "what is done in each cycle", "Name the steps of a cycle.", "When does the next cycle start?", "What does one cycle do?",
        ),
        ("Which steps does a cycle have?", "Walk me through a cycle.", "What goes on during a cycle?", "Of what does a cycle consist?"),
    ),
    Topic(
        ("verification", "the verify step", "the check", "verify step"),
        "Verification is one forward pass of the target over the whole block. It shows what the target would write after each token, so all drafts are checked at once.",
        (
            "How are drafts checked?", "How does verification work?", "How does the target check the drafts?", "verification?", "What is checked?", "How does the check work?",
            "What's verification?", "Why are drafts verified?", "Are all drafts checked?", "Is every token checked?", "How many passes does a check take?",
            "Can you tell me how drafts are checked?", "I'd like to know how verification works.", "How does the model check several tokens at once?",
            "What happens in the verify step?", "What is verified?", "When are drafts checked?", "How do you check the guesses?", "how r drafts verified",
        ),
        (
            "In what way are guesses checked?", "How does it check a whole block?", "What is done to verify drafts?", "How many passes of the target check a block?",
        ),
    ),
    Topic(
        ("exact verification", "--verify exact", "exact mode", "the --verify option"),
        "`--verify exact` gives plain decoding's greedy answer bit for bit. The default, `fast`, can differ only where the two best tokens are closer than rounding.",
        (
            "What does --verify do?", "What does --verify exact do?", "What does exact mode do?", "How do I get exact answers?", "What is the difference between fast and exact?",
            "exact or fast?", "--verify?", "verify exact", "Is it bit for bit the same?", "bit exact?", "How do I get the same answer bit for bit?", "Why can the answer differ?",
            "Can rounding change the answer?", "Is the default exact?", "What's exact verify?", "Can you tell me what --verify exact does?", "I'd like the answer bit for bit.",
            "When do I need --verify exact?", "Why does the text differ in one word?", "What is a near tie?", "exact verify?",
        ),
        (
            "Which option gives bit-exact answers?", "How can I rule out rounding?", "When does fast differ from exact?", "What is --verify for?",
        ),
    ),
    Topic(
        ("plain decoding", "decoding without a drafter"),
        "Plain decoding makes one token per pass, without a drafter. It is the same as a block size of 1, and what drafts are compared with.",
        (
            "What happens without a drafter?", "What happens in plain decoding?", "plain decoding?", "What is normal decoding?", "What is ordinary decoding?",
            "What's plain decoding?", "How does plain decoding work?", "How does a model write without drafts?", "How many tokens per pass without a drafter?",
            "What does plain mean?", "Does it run without a drafter?", "What is mode plain?", "Can you tell me what plain decoding is?", "What if there is no drafter?",
            "What is autoregressive decoding?", "Does it work if no drafter is known?", "what is plain",
        ),
        (
            "How does decoding go without drafts?", "What is done when there is no drafter?", "Which decoding takes one token per pass?", "What does it mean to decode plainly?",
        ),
    ),
    Topic(
        ("greedy decoding", "greedy mode", "greedy"),
        "Greedy decoding, `--temperature 0`, always takes the most likely token. Drafts do not change its text; only a near tie of two tokens may fall the other way, by rounding.",
        (
            "What does greedy mean?", "greedy?", "greedy decoding?", "What's greedy decoding?", "How does greedy decoding work?", "What happens at temperature 0?",
            "What does temperature 0 mean?", "How do I decode greedily?", "How do I turn sampling off?", "Which token does greedy decoding take?",
            "Can you tell me what greedy decoding is?", "I'd like to know what greedy means.", "Greedy or sampling?", "Why greedy?",
        ),
        (
            "Which token is taken in greedy mode?", "What is taken at each step of greedy decoding?", "What does it mean to be greedy?",
            "How can I always get the most likely token?",
        ),
    ),
    Topic(
        ("sampling", "the temperature", "the --temperature option", "--temperature"),
        "Sampling draws tokens at random instead of taking the most likely one; `--temperature` above 0 turns it on, and higher is more random. Drafts keep its distribution exactly.",
        (
            "How do I set the temperature?", "What does the temperature do?", "How do I get more random answers?", "Can I sample?", "What does --temperature do?",
            "What is top-p?", "What is top-k?", "What is min-p?", "temperature?", "sampling?", "What's sampling?", "How does sampling work?", "Does sampling work with drafts?",
            "How do I change the temperature?", "What is a good temperature?", "How do I make answers more varied?", "Is sampling supported?",
            "Can you tell me how to set the temperature?", "I'd like to set the temperature.", "How do I turn sampling on?", "What does --top-p do?", "what is temprature",
            "How do I get different answers?", "Why do I get another answer each time?",
        ),
        (
            "How can I change the temperature?", "What is a higher temperature for?", "Which option makes answers more random?", "How can I get more variety?",
        ),
    ),
    Topic(
        ("the seed", "a seed", "the --seed option", "--seed"),
        "The seed makes sampled text repeatable on one machine: `--seed 1` gives the same answer again. Greedy decoding needs none.",
        (
            "What does --seed do?", "How do I make answers repeatable?", "seed?", "seed", "How do I set the seed?", "How do I get the same sampled answer again?",
            "What's the seed?", "Is there a seed?", "How do I repeat an answer?", "Can I reproduce an answer?", "Which option sets the seed?", "Do I need a seed?",
            "Can you tell me what --seed does?", "I'd like to set a seed.", "How do I get reproducible text?", "Are answers reproducible?", "reproducible?",
            "What is the random seed?", "what does seed mean", "Can I fix the random numbers?",
        ),
        (
            "How can I repeat a sampled answer?", "What is --seed for?", "Which option makes text repeatable?", "How can I set the random seed?",
        ),
    ),
    Topic(
        ("the KV cache", "a KV cache", "the key and value cache", "KV cache"),
        "The KV cache holds the keys and values of the tokens so far, so that each new token needs only its own row of work. Rows of rejected drafts are overwritten.",
        (
            "What does the KV cache do?", "How does the KV cache work?", "kv cache?", "What's the KV cache?", "What is in the KV cache?", "Why is there a KV cache?",
            "What is kv caching", "Does {it} use a KV cache?", "How big is the KV cache?", "Can you tell me what the KV cache is?", "I'd like to know what a KV cache is.",
            "What does KV stand for?", "Where are keys and values kept?", "Why cache keys and values?", "What does the model remember of the text?",
        ),
        (
            "What does a KV cache hold?", "What is cached for each token?", "What is the use of a KV cache?", "How does caching keys and values help?",
        ),
    ),
    Topic(
        ("KV injection", "the KV injection"),
        "KV injection turns hidden states of the target into keys and values for every layer of the drafter. So the drafter knows the text without reading it.",
        (
            "How does the drafter know the text?", "How does KV injection work?", "kv injection?", "What does KV injection do?", "What's KV injection?", "What is injected?",
            "Why is KV injection used?", "Does the drafter read the text?", "How does the drafter see the context?", "Can you tell me what KV injection is?",
            "I'd like to know how the drafter knows the text.", "What is injected into the drafter?", "How do the target's states get into the drafter?",
            "what does kv injection mean", "Why does the drafter not read the text?",
        ),
        (
            "In what way does the drafter learn the text?", "What does KV injection turn into keys and values?", "How is the context given to the drafter?",
            "What is put into the drafter's layers?",
        ),
    ),
    Topic(
        ("context features", "the context features", "a context feature", "hidden states"),
        "Context features are hidden states of the target after a few chosen layers, joined together. They come from the pass that checks the draft, and the drafter reads them.",
        (
            "What does the drafter read?", "What does the drafter get from the target?", "context features?", "What are context features made of?",
            "Where do context features come from?", "What are hidden states?", "What's a context feature?", "Which layers give the context features?",
            "What is the drafter fed with?", "What does the target give the drafter?", "Can you tell me what context features are?",
            "I'd like to know what context features are.", "Why does the drafter need context features?", "What are the target's hidden states for?", "What is a feature here?",
        ),
        (
            "From which layers are context features?", "What does the target hand to the drafter?", "What is the drafter's input?", "When are context features made?",
        ),
    ),
    Topic(
        ("memory bandwidth", "the memory bandwidth", "bandwidth"),
        "Memory bandwidth is how fast a machine can read its memory. A large model reads all its weights for every pass, so checking a few tokens costs little more than making one.",
        (
            "Why is checking several tokens cheap?", "Why is speculative decoding faster?", "Why is speculation faster?", "Why is {it} faster?", "bandwidth?",
            "Why does it get faster?", "What limits the speed?", "Why are large models slow?", "What is the bottleneck?", "Why does memory bandwidth matter?",
            "Why is a pass slow?", "Why does drafting help?", "Where does the speedup come from?", "What's memory bandwidth?", "Can you tell me why it is faster?",
            "I'd like to know why speculation is faster.", "Why is decoding slow?", "What takes the time on a Mac?", "How can checking be cheaper than writing?",
            "why is it fast",
        ),
        (
            "For what reason is speculation faster?", "Why does a check of many tokens cost so little?", "What makes decoding slow on a Mac?",
            "What does bandwidth have to do with speed?",
        ),
    ),
    Topic(
        ("quantisation", "quantization", "4-bit quantisation", "4-bit weights"),
        "Quantisation stores each weight in a few bits, here in four. Groups of weights share a scale and an offset, so the weights become smaller and are read faster.",
        (
            "What is quantization?", "quantisation?", "What does 4 bits mean?", "What does 4-bit mean?", "How does quantisation work?", "Why 4 bits?", "What's quantisation?",
            "What is a 4-bit model?", "Why are the weights in 4 bits?", "Why is quantisation used?", "How many bits has a weight?", "Can you tell me what quantisation is?",
            "I'd like to know what quantisation is.", "what is a quant", "4bit?", "How are weights stored?", "What does quantised mean?", "What is a group of weights?",
        ),
        (
            "In how many bits are weights stored?", "What is the use of quantisation?", "What happens to weights in quantisation?", "Why does one quantise a model?",
        ),
    ),
    Topic(
        ("the Metal kernels", "Metal kernels", "a Metal kernel", "the kernels", "the --kernels option"),
        "Metal kernels are small programs for the Mac's GPU that make a cycle cheaper. Each is compared with MLX's before use; `--kernels mlx` turns them off. Nobody has run them on a Mac yet.",
        (
            "What do the kernels do?", "Why do you need kernels?", "What does --kernels do?", "Are there custom kernels?", "Do you use Metal?", "kernels?", "metal?",
            "Does {it} use Metal?", "What are the kernels for?", "How are kernels chosen?", "Are the kernels tested?", "Were the kernels run on a Mac?",
            "Are the kernels faster than MLX's?", "How do I turn the kernels off?", "What if a kernel is wrong?", "Can you tell me what the Metal kernels do?",
            "I'd like to know what the kernels do.", "Which kernels are used?", "What is a kernel here?", "custom metal kernels?", "Does it work without the kernels?",
        ),
        ("For what are the Metal kernels?", "Does {it} have Metal kernels?", "How does it choose its kernels?", "What runs on the GPU?"),
    ),
    Topic(
        ("the --show-drafts option", "--show-drafts", "the show-drafts option"),
        "`--show-drafts` marks what was drafted and accepted: green on a terminal, brackets elsewhere. So you see which part was guessed.",
        (
            "How can I see the drafts?", "How do I see what was guessed?", "Show me the drafted tokens.", "What does --show-drafts do?",
            "How can I see which tokens were drafted?", "How do I show the drafts?", "show drafts", "Why is the text green?", "What does the green text mean?",
            "What do the brackets mean?", "What do the colours mean?", "Which part was guessed?", "How do I see accepted tokens?", "Can you tell me how to see the drafts?",
            "I'd like to see the drafts.", "Is there a way to see the guesses?", "How do I colour the drafts?", "--show-drafts?", "Can I watch speculation work?",
            "how do i see drafts",
        ),
        (
            "Which option shows the drafts?", "How can I tell what was drafted?", "Can I see what the drafter guessed?", "What is green in the answer?",
        ),
    ),
    Topic(
        ("the --max-tokens option", "--max-tokens", "the max-tokens option"),
        "`--max-tokens N` stops an answer after N tokens, 256 by default, or earlier when the model is done.",
        (
            "How do I limit the length of an answer?", "What does --max-tokens do?", "How can I limit the answer?", "How do I get longer answers?",
            "How do I get shorter answers?", "Why does the answer stop in the middle?", "Why was the answer cut off?", "max tokens?", "--max-tokens?",
            "How long can an answer be?", "What is the default of --max-tokens?", "How many tokens can an answer have?", "How do I set the maximum length?",
            "Can you tell me how to limit the answer?", "I'd like longer answers from generate.", "Which option limits the answer?", "set max tokens", "My answer is cut off.",
            "how do i make answers longer", "Is there a limit for the answer?",
        ),
        (
            "Which option sets the length of an answer?", "How can I get a longer answer?", "Why does the text end too early?", "What is the limit of tokens?",
        ),
    ),
    Topic(
        ("the --json option", "--json", "JSON output"),
        "`--json` prints JSON lines for other programs: a `chunk` for every cycle, then an `end` with the whole text and the statistics.",
        (
            "How do I get JSON?", "What does --json do?", "How can I get JSON?", "json?", "json", "Is there JSON output?", "How do I read the output in a program?",
            "Can {it} print JSON?", "How do I parse the output?", "What is in the JSON?", "Which option prints JSON?", "How do I get the statistics as JSON?",
            "machine readable output?", "Can you tell me how to get JSON?", "I'd like JSON output.", "How do I process the output?", "output as json",
            "Is the output available as JSON?", "--json?", "What does the JSON look like?",
        ),
        (
            "Which option gives JSON?", "How can a program read the answer?", "Is it possible to get JSON lines?", "In which format can programs read the output?",
        ),
    ),
    Topic(
        ("the --system option", "--system", "a system message", "a system prompt"),
        "`--system TEXT` gives the model a system message: it stands before your prompt and says how the model should behave.",
        (
            "How do I set a system message?", "What does --system do?", "How can I give a system message?", "system prompt?", "How do I set a system prompt?",
            "What is a system message for?", "Can I use a system prompt?", "Which option sets the system message?", "How do I tell the model how to behave?", "--system?",
            "Can you tell me how to set a system message?", "I'd like to set a system prompt.", "Where do I put the system prompt?", "How do I give the model a role?",
            "set system prompt", "Does {it} support system prompts?",
        ),
        (
            "How can I set a system prompt?", "Which option is for the system message?", "How do I make the model behave in some way?", "Where does the system message go?",
        ),
    ),
    Topic(
        ("the prompt cache", "a prompt cache", "the --prompt-cache option", "--prompt-cache"),
        "`--prompt-cache FILE` saves the reading of a long prompt. The first run writes FILE, and later runs with the same beginning read only what is new.",
        (
            "What does --prompt-cache do?", "How do I use a prompt cache?", "prompt cache?", "How do I cache a prompt?", "How do I reuse a long prompt?", "Can I save a prompt?",
            "Why is there a prompt cache?", "How do I avoid reading a document again?", "What's a prompt cache?", "Can the prompt be cached?", "Which option caches the prompt?",
            "When should I use --prompt-cache?", "Can you tell me how to use the prompt cache?", "I'd like to cache my prompt.", "--prompt-cache?",
            "How do I ask many questions about one document?", "Does {it} cache prompts?", "How do I delete a prompt cache?", "How large is a prompt cache?",
            "Reading my long prompt takes too long.",
        ),
        (
            "How can I reuse a prompt?", "What is --prompt-cache for?", "Is there a way to keep a long prompt?", "How can I save the reading of a document?",
        ),
    ),
    Topic(
        ("the thinking", "thinking mode", "the --think option", "--think"),
        "With `--think` the model thinks before it answers, and `--no-think` turns that off. In the chat, `/think on` and `/think off` do it.",
        (
            "How do I turn thinking on?", "How do I turn thinking off?", "What does --think do?", "What does --no-think do?", "thinking?", "Do you think before you answer?",
            "Does {it} support thinking?", "How do I see the thinking?", "What does /think do?", "Can the model think first?", "How do I stop it from thinking?",
            "Can you tell me how to turn thinking off?", "I'd like to turn thinking off.", "reasoning?", "Does it support reasoning models?", "no think?",
            "Which option turns thinking off?", "How do I disable reasoning?",
        ),
        (
            "How can I switch thinking off?", "Which option makes the model think?", "May the model think first?", "How can I do without the thinking?",
        ),
    ),
    Topic(
        ("the context length", "the context window"),
        "The context is as long as the model was made for, or as your memory has room for. In the chat a notice says when it is 85% full.",
        (
            "How long is the context?", "How long can the context be?", "context length?", "context window?", "How large is the context window?", "How long can my prompt be?",
            "What happens when the context is full?", "How many tokens of context are there?", "Does {it} support long contexts?", "Can I use long documents?",
            "Can you tell me how long the context can be?", "max context?", "I have a very long prompt.", "How much text can it read?", "What is the longest prompt?",
        ),
        (
            "Which length of context is possible?", "How much context does {it} allow?", "What if my text is too long?", "When is the context full?",
        ),
    ),
    Topic(
        ("image support",),
        "Text only: there are no images, audio or video. Of a multimodal model the text part is used.",
        (
            "Does {it} support images?", "Can {it} read pictures?", "Does {it} support vision models?", "vision?", "images?", "Is {it} multimodal?", "multimodal?",
            "Can I send a picture?", "Can I use Qwen-VL?", "Does {it} do audio?", "Can {it} see pictures?", "Can I attach an image?", "Can {it} make pictures?", "text only?",
            "Does it read images?",
        ),
        ("How about pictures?", "Will {it} take a picture?", "Are images supported?", "Do vision models work with {it}?"),
    ),
    # ---- small talk
    Topic(
        (),
        GREETING,
        (
            "Hello, nice to meet you.", "hey there!", "good morning", "good evening", "good afternoon", "good day", "hi there", "hi!", "hello!", "hey!", "yo!",
            "Yo, what's this?", "hullo", "hey bot", "hello bot", "hello friend", "hi friend", "Hello model!", "heya", "hii", "helo", "hello?", "hi?", "Anybody there?",
            "is anyone there", "Are you there?", "Hello, are you there?", "start", "Hi, nice to meet you!", "morning!", "Hey, good to see you.", "Well hello there", "Greetings!",
        ),
        ("Hello to you.", "hey, anyone home?", "A very good day to you.", "oh hi", "hello again"),
    ),
    Topic(
        (),
        "You are welcome. Ask me a sum, a conversion, or something about dflash-mlx.",
        (
            "Thanks!", "thanks", "Thank you!", "thank you", "Thank you very much.", "thx", "ty", "tysm", "Thanks a lot", "Great, thanks.", "thanks for your help", "Cheers",
            "Many thanks!", "ok thanks", "Thank you so much", "thank u", "thanks!", "Thanks, bot.", "Perfect, thank you.", "Nice, thanks!", "That helped, thanks.",
            "Thank you for your help.", "Thanks for the answer.", "thanks man", "cool thanks", "much appreciated",
        ),
        ("Thanks, that helped.", "Okay, thank you.", "I thank you.", "Very kind, thanks."),
    ),
    Topic(
        (),
        "Goodbye! Type `/quit` if you are in the chat.",
        (
            "bye", "Goodbye!", "goodbye", "bye bye", "Bye!", "See you!", "see you later", "see ya", "cya", "Farewell.", "So long!", "I have to go.", "I'm leaving.",
            "bye for now", "ok bye", "Have a nice day!", "That was all.", "Until next time.", "ciao bye", "good bye", "gotta go",
        ),
        ("Bye then.", "Goodbye, model.", "See you tomorrow!", "I must go now. Bye."),
    ),
)
# fmt: on
