"""How verdicts are said, denied, bounded and taken back in words: the patterns of `verdicts`. Each is linear enough that
20,000 characters are read at once; tests/predictions/prompts/test_reading_time.py holds them to it."""

import re

SPELLED = {
    name: str(n)
    for n, name in enumerate(("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"))
}
NUMBER = r"[-+]?\d{1,12}(?:[.,]\d{1,12}){0,3}"
MARKS = r"[\s*_`~\"'\u201c\u201d\u2018\u2019\u00ab\u00bb\[\](){}|$\\#]*(?:<(?=\s*\d+\s*>))?"
PLAIN = (
    r"(?!\s+(?:would|if|unless|requires?|isn['\u2019]t|(?:is|seems)\s+(?:reserved|for|too|wrong|not|incorrect|inappropriate|what|un\w+)"
    r"|at\s+(?:best|most|least)|(?:or|and)\s+(?:higher|lower|less|more|above|below|better|worse|over|under|up)|max(?:imum)?"
    r"|min(?:imum)?|and\s+(?:a\s+)?(?:half|quarter|third))\b)"
)
# The number is whole: "14th" is not 1, "4+" not 4, "4\u00bd" not 4.
ENDS = r"(?![A-Za-z\d+]|[.,]\d|[ \t]?[\u00bc-\u00be\u2150-\u215e])"
VERDICT_NUMBER = (  # "(out of 10)" is a scale of its own, "4%" and "4th" are no scores, "3 -> 4" and "3, 4" are two
    rf"{MARKS}(?P<said>{NUMBER}){ENDS}(?P<share>[ \t]*%)?"
    rf"(?:[ \t*_]*\(?(?:/|out of|of)[ \t]*(?P<of>{NUMBER}))?"
    rf"(?:[ \t]*(?:-|\u2013|\u2014|to|or|and|&|,|;|\||\u00b1|->|\u2192)?[ \t]*(?P<other>(?<!\d){NUMBER}))?"
    rf"{PLAIN}"
)
NAMES = "score|rating|answer|verdict|grade|judgment|judgement|choice|category|label|output|result|relevance"
FINAL = r"\b(?:final|overall)\s+(?:[a-z]+\s+){0,2}?"
BOXED = re.compile(r"\\boxed\{([^{}\n]{1,60})\}")
IS = r"[\s*_`\"']*(?:={1,3}|:|->|\u2192|\bis\b\s*:?|\bwould be\b)"
BARE = rf"[ \t]+(?:[-\u2013\u2014][ \t]+)?(?={NUMBER}[\s*_`]*(?:[.,:;(/\n]|out\s+of\b|$))"  # "Final score 4"
SHORTLY = rf"(?:^|(?<=\n)|(?<=[.,;:] ))[ \t*_`]*(?:score|rating){BARE}"  # "Incorrect, rating 1"
OF = r"(?:\s+(?:for|of)\s+[^\n.:;=?!]{1,40}?(?=\s*[:=]|\s+is\b))?"  # "the final score for Brazil: 2"
LOOSE = re.compile(
    r"\b(?:rat(?:e|ed|ing)|scor(?:e|ed|ing)|give|assign|choose|select|pick|deserves?|earns?|gets?|merits?|it(?:'s| is)"
    rf"|answer|verdict)\b[^\d.!?\n<>\u2264\u2265]{{0,60}}?(?P<said>{NUMBER}){ENDS}(?![ \t]*%){PLAIN}",
    re.IGNORECASE,
)
SURE = re.compile(
    rf"\b(?:i|we)\s+(?:rate|give|assign|score|choose|select)\s+(?:it|this|the\s+\w+)?[^\d.!?\n]{{0,30}}?(?P<said>{NUMBER}){ENDS}{PLAIN}",
    re.IGNORECASE,
)
NEGATED = re.compile(
    r"\b(?:not|never|no|than|between|neither|cannot|except|above|below|at\s+(?:least|most)|minimum|maximum|up\s+to)\b"
    r"|n['\u2019]t\b",
    re.IGNORECASE,
)
BOUND = re.compile(r"\b(?:under|over|less|more|beyond|almost|nearly|fewer|lower|higher)[\s*_`:=]*\Z", re.IGNORECASE)
PARTS = re.compile(
    r"\s+(?:for|in|on)\b[^.\n\d]{1,40}\d+(?:/\d+)?\s+(?:for|in|on)\b", re.IGNORECASE
)  # "4 for dress, 2 for food"
BY_SCALE = re.compile(
    rf"\s*\(?on\s+a\s+scale\s+(?:of|from)\s+{NUMBER}\s*(?:-|\u2013|to)\s*(?P<top>{NUMBER})", re.IGNORECASE
)
DENIED = re.compile(  # right before a statement, with nothing between but words that lead to it
    r"(?:\b(?:could|might|may|not|never|cannot|no|neither|nor|without|rather\s+than|instead\s+of|otherwise|else)\b|n['\u2019]t\b)(?:\s+(?:a|an|the|any|be|been|have|"
    r"say|said|give|given|giving|assign|call|deserves?|merits?|warrants?|justify|earn|get|choose|go|with|for|it|this|that|of|as|"
    r"candidate|answer|image|picture|really|quite|exactly|necessarily|final|overall|my|its)){0,6}[\s*_`:]*\Z",
    re.IGNORECASE,
)
SUPPOSED = re.compile(r"\b(?:if|had|were|unless|suppose|supposing|should)\b", re.IGNORECASE)
THEREFORE = re.compile(r"\b(?:so|thus|hence|therefore|but)\b", re.IGNORECASE)
TAKEN_BACK = re.compile(  # a number after a verdict, which takes its place or stands beside it
    r"\b(?P<lead>or|maybe|perhaps|possibly|(?:could|might|may|can)\s+be|rather|actually|instead|correct(?:ed|ion)|revis(?:ed?|ion)"
    r"|chang(?:e|ed|ing)|make\s+(?:it|that)|then|no|wait|sorry|so)\b[^\d.!?\n]{0,30}?"
    rf"(?P<said>{NUMBER}){ENDS}(?=[\s*_`\"')\]]*(?:$|[.,;:!?\n]))",
    re.IGNORECASE,
)
AFTERTHOUGHT = re.compile(
    rf"\W*(?:(?:hmm+|no|wait|actually|so|rather|sorry|or)\b\W*)*(?P<said>{NUMBER})\W*", re.IGNORECASE
)
TAGGED = re.compile(r"<(score|rating)>([^<>\n]{1,20})</\1>", re.IGNORECASE)
JUDGING = frozenset(  # a text of these words alone is not known by them: a judge says them too
    [
        "a",
        "an",
        "the",
        "this",
        "that",
        "it",
        "is",
        "are",
        "was",
        "be",
        "been",
        "so",
        "thus",
        "hence",
        "therefore",
        "and",
        "but",
        "or",
        "not",
        "no",
        "none",
        "of",
        "to",
        "for",
        "with",
        "by",
        "as",
        "in",
        "on",
        "i",
        "my",
        "we",
        "would",
        "does",
        "do",
        "doesn't",
        "isn't",
        "give",
        "given",
        "get",
        "gets",
        "deserves",
        "candidate",
        "candidate's",
        "answer",
        "answers",
        "reference",
        "references",
        "question",
        "response",
        "text",
        "caption",
        "article",
        "image",
        "picture",
        "any",
        "all",
        "right",
        "wrong",
        "true",
        "false",
        "correct",
        "correctly",
        "incorrect",
        "precise",
        "imprecise",
        "irrelevant",
        "relevant",
        "neutral",
        "completely",
        "highly",
        "fully",
        "partly",
        "match",
        "matches",
        "matching",
        "agree",
        "agrees",
        "same",
        "equal",
        "good",
        "bad",
        "yes",
        "final",
        "overall",
        "its",
        "score",
        "scores",
        "rating",
        "ratings",
        "verdict",
        "grade",
        "judgment",
        "result",
        "output",
        "label",
    ]
)
ON_A_SCALE = re.compile(
    rf"\A\W*on\s+a\s+scale\s+(?:of|from)\s+{NUMBER}\s*(?:-|\u2013|to)\s*(?P<top>{NUMBER})\s*[:,]\s*(?={NUMBER}\W*\Z)",
    re.IGNORECASE,
)
SCALE = re.compile(
    rf"\b(?:scale|range)?\s*(?:of|from|between|is|either)?\s*\b(?P<least>{NUMBER})\s*(?:-|\u2013|\u2014|to|and)\s*(?P<top>{NUMBER})(?:\s*(?:-?point)?\s*scale\b)?",
    re.IGNORECASE,
)
QUOTED = re.compile(
    r"\"[^\"\n]{1,400}\"|\u201c[^\u201d\n]{1,400}\u201d|\u00ab[^\u00bb\n]{1,400}\u00bb|(?<!\w)'[^'\n]{1,400}'(?!\w)|`[^`\n]{1,400}`"
    r"|(?<!\w)\u2018[^\u2019\n]{1,400}\u2019(?!\w)|^[ \t]*>.*$",
    re.MULTILINE,
)
TAG_NAMES = ("candidate", "reference", "references", "question", "article", "response", "text", "example")
AROUND = " \t\r\n*_`~\"'\u201c\u201d\u2018\u2019\u00ab\u00bb[](){}<>|$\\#.:;,!"
