"""Function words of English and Chinese: they say how something is asked, not what.

Short lists on purpose: what is merely frequent in one catalog is found there by statistics (see `router.recall`), so
these hold only words that carry no subject in any catalog. Words of action (`get`, `find`, `查`) are not among them.
"""

from __future__ import annotations

_ENGLISH = """
a about above actually after again all also although always am an and another any anybody anyone anything are aren as
at be because been before being below best between both but by can cannot could couldn d did didn do does doesn doing
don down during each either else etc even ever every everyone everything few for from further had hadn has hasn have
haven having he hello help her here hers herself hey hi him himself his how however i if in instead into is isn it its
itself just kindly know let like ll lot m made make many may maybe me might mine more most much must my myself need
needed needs neither no nor not now of off ok okay on once one only onto or other others our ours ourselves out over
own particular perhaps please possible quite rather re really regarding s same shall she should shouldn since so some
somebody someone something specific still such sure t tell than thank thanks that the their theirs them themselves
then there these they thing things this those though through thus to together too under until up upon us use used
using ve very via want wanted wants was wasn we well were weren what whatever when whenever where wherever whether
which while who whoever whom whose why will with within without won would wouldn yes yet you your yours yourself
yourselves additionally also finally firstly furthermore lastly moreover secondly besides
"""
ENGLISH = frozenset(_ENGLISH.split())

# Words of the frame of a request ("I am looking for", "can you provide"): they carry little, not nothing.
_ENGLISH_FRAME = """
able assist assistance assisting curious currently detail details first get give given giving information interested
like looking next plan planning provide provided provides providing recent recently second request requested required
show wondering would
"""
ENGLISH_FRAME = frozenset(_ENGLISH_FRAME.split())

_CHINESE = (
    "的 了 着 过 吗 呢 吧 啊 呀 嘛 哦 我 你 您 他 她 它 我们 你们 他们 咱们 请 请问 请你 请帮 帮我 帮忙 帮助 可以 能否 能不能 是否 一下 一个 一些 一种 "
    "这个 那个 这些 那些 这 那 是 在 和 与 或 及 以及 并 并且 而且 还有 还 也 都 就 才 又 再 把 被 给 让 对 对于 关于 从 到 向 为 为了 "
    "因为 所以 如果 但是 不过 然后 什么 怎么 怎样 如何 哪 哪些 哪个 多少 几 想 想要 需要 希望 我想 我要 我需要 我希望 我正在 正在 有 没有 "
    "会 能 要 得 地 之 其 该 此 知道 告诉 告诉我 谢谢 你好 您好 好的 是的 有点 有些 非常 很 最 更 之间"
)
CHINESE_WORDS = frozenset(_CHINESE.split())
_CHINESE_FRAME = "了解 提供 获取 信息 进行 最近 现在 相关 具体 一些 情况 使用 看看 查看"
CHINESE_FRAME = frozenset(_CHINESE_FRAME.split())
# Characters that make a bigram with them say little; kept separate because bigrams cross word borders.
CHINESE_CHARACTERS = frozenset(
    "的了着过吗呢吧啊呀嘛哦我你您他她它们请帮这那是在和与或及并也都就才又再把被给让从到向为因所但什么怎样哪几想要会能得地之其此很最更"
)


# Words of greeting, thanks and assent: alone they ask for nothing.
_TALK = """
hello hi hey bye goodbye thanks thank cheers welcome sorry please ok okay yes yeah yep no nope sure great nice cool perfect
awesome wow lol haha
"""
TALK = frozenset(_TALK.split()) | {"你好", "您好", "谢谢", "好的", "再见", "哈哈", "嗯", "哦", "请"}


def is_function_word(word: str) -> bool:
    """True for a folded word that is a function word, or a Chinese bigram made of function characters only."""
    if word.isascii():
        return word in ENGLISH or word in TALK
    return word in CHINESE_WORDS or all(character in CHINESE_CHARACTERS for character in word)


def is_frame_word(word: str) -> bool:
    """True for a folded word that frames a request rather than names its subject."""
    return word in ENGLISH_FRAME if word.isascii() else word in CHINESE_FRAME
