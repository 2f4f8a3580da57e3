"""Remarks on how a short text is written, in English, Portuguese, Arabic and Amharic. Pure.

Each looks at the text alone, or at the question it answers, and says nothing where it cannot know: number words and
beginnings of sentences only in the languages below, words only where spaces part them.
"""

import re
import unicodedata

CHECKS = ("words", "full_stop", "spelled_number", "sentence_start", "in_question", "question_mark")
STOPS = (".", "\u06d4", "\u1362", "\u0964", "\u3002")  # Latin and Arabic, Urdu, Ethiopic, Indic, CJK
ASKS = ("?", "\u061f", "\u1367", "\uff1f")  # Latin, Arabic, Ethiopic, CJK
CLOSES = "\"'\u201d\u2019\u00bb)]"
WITHOUT_SPACES = ("zh", "ja", "th", "lo", "km", "my")
WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")

NUMBERS = {
    "en": "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million dozen",
    "pt": "zero dois duas três quatro cinco seis sete oito nove dez onze doze treze catorze quatorze quinze dezesseis"
    " dezasseis dezessete dezassete dezoito dezenove dezanove vinte trinta quarenta cinquenta sessenta setenta oitenta"
    " noventa cem cento duzentos trezentos quinhentos mil milhão",
    "ar": "صفر واحد واحدة اثنان اثنين اثنتان اثنتين ثلاثة ثلاث أربعة أربع خمسة خمس ستة ست سبعة سبع ثمانية ثماني ثمان"
    " تسعة تسع عشرة عشر عشرون عشرين ثلاثون ثلاثين أربعون أربعين خمسون خمسين ستون ستين سبعون سبعين ثمانون ثمانين"
    " تسعون تسعين مئة مائة ألف مليون",
    "am": "ዜሮ አንድ ሁለት ሦስት ሶስት አራት አምስት ስድስት ሰባት ስምንት ዘጠኝ አስር አሥር ዐሥር ሃያ ሀያ ሠላሳ ሰላሳ አርባ ሃምሳ አምሳ ስልሳ ስድሳ ሰባ ሰማንያ"
    " ዘጠና መቶ ሺህ ሺ ሚሊዮን",
}
ALONE = {"pt": ("um", "uma")}  # an article too, so a number only when nothing else is there
STARTS = {
    "en": (
        "it is", "it's", "its a", "this is", "that is", "that's", "these are", "those are", "they are", "they're",
        "there is", "there are", "he is", "she is", "the answer is", "i think", "i believe", "because",
    ),
    "pt": (
        "é", "são", "isto é", "isso é", "este é", "esta é", "esse é", "essa é", "ele é", "ela é", "eles são",
        "elas são", "trata-se", "a resposta é", "eu acho", "acho que", "porque",
    ),
    "ar": (
        "هذا", "هذه", "ذلك", "تلك", "هو", "هي", "هم", "إنه", "إنها", "إنهم", "الجواب", "الإجابة", "أعتقد", "أظن", "لأن",
    ),
    "am": ("ይህ", "ይሄ", "ያ", "እሱ", "እሷ", "እነሱ", "መልሱ", "ምክንያቱም", "እኔ እንደማስበው"),
}  # fmt: skip
ENDS = {"am": ("ነው", "ናት", "ነች", "ናቸው", "ይባላል", "ይባላሉ")}  # where the verb comes last
OR = {"or", "ou", "أو", "أم", "ወይም", "ወይስ"}


def style_warnings(text: str, checks: tuple[str, ...], language: str, most_words: int, question: str) -> list[str]:
    """Those of `checks` that have something to say. `language`: a code, or empty for any of the four."""
    base = language.split("-")[0]
    tests = {
        "words": lambda: base not in WITHOUT_SPACES and word_count(text) > most_words,
        "full_stop": lambda: ends_in_stop(text),
        "spelled_number": lambda: spells_number(text, base),
        "sentence_start": lambda: looks_like_sentence(text, base),
        "in_question": lambda: contains_phrase(text, question),
        "question_mark": lambda: not text.rstrip(CLOSES).endswith(ASKS),
    }
    return [check for check in CHECKS if check in checks and tests[check]()]


def words_of(text: str) -> list[str]:
    return WORD.findall(normalise(text).replace("\u1361", " "))


def word_count(text: str) -> int:
    """By spaces, and by the Ethiopic mark between words."""
    return len(text.replace("\u1361", " ").split())


def normalise(text: str) -> str:
    """For comparison: small letters, without Arabic vowel signs and stretching."""
    letters = [letter for letter in unicodedata.normalize("NFC", text.casefold()) if not "\u064b" <= letter <= "\u0652"]
    return "".join(letters).replace("\u0640", "").replace("\u2019", "'")


def ends_in_stop(text: str) -> bool:
    """A full stop after an abbreviation, as in "D.C.", and dots that trail off are none."""
    return text.rstrip(CLOSES).endswith(STOPS) and not re.search(r"(?:\b\w\.){2,}$|\.\.$", text.rstrip(CLOSES))


def spells_number(text: str, base: str) -> bool:
    words = words_of(text)
    known = {word for language in languages(base) for word in NUMBERS[language].split()}
    alone = {word for language in languages(base) for word in ALONE.get(language, ())}
    return any(word in known for word in words) or (len(words) == 1 and words[0] in alone)


def looks_like_sentence(text: str, base: str) -> bool:
    sentence = " ".join(normalise(text).rstrip("".join(STOPS)).split())
    for language in languages(base):
        if any(sentence.startswith(f"{start} ") for start in STARTS[language]):
            return True
        if any(sentence.endswith(f" {end}") for end in ENDS.get(language, ())):
            return True
    return False


def contains_phrase(text: str, question: str) -> bool:
    """Whether the question holds these very words. Where it asks "this or that", one of them is the right answer."""
    words, asked = words_of(text), words_of(question)
    if not words or OR & set(asked):
        return False
    return any(asked[at : at + len(words)] == words for at in range(len(asked)))


def languages(base: str) -> list[str]:
    """The tables that apply. Where the language is not said, Portuguese is left out: its "é" may be anything."""
    if base:
        return [base] if base in NUMBERS else []
    return ["en", "ar", "am"]
