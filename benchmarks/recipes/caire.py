"""CAIRE's `universal` set: how relevant is a picture of a universal concept to each of ten cultures.

The English names and definitions of the five levels are quoted from Table 12 (Appendix C.3), the concepts from
Table 9, cohorts, conditions and the 20 answers per picture and cohort from sections 4.2 and D of

    Arnav Yayavaram, Siddharth Yayavaram, Simran Khanuja, Michael Saxon, Graham Neubig.
    CAIRE: Cultural Attribution of Images by Retrieval-Augmented Evaluation. arXiv:2506.09109, 2025.

Question, instructions, skip reasons and everything in Arabic are ours.
"""

from benchmarks.recipes.contract import CohortSpec, ConditionSpec, PredictionTask, Recipe, ReportTable, StageSpec

CITATION = (
    "Arnav Yayavaram, Siddharth Yayavaram, Simran Khanuja, Michael Saxon, Graham Neubig. "
    "CAIRE: Cultural Attribution of Images by Retrieval-Augmented Evaluation. arXiv:2506.09109, 2025. "
    "The definitions of the five levels are quoted from its Table 12; their Arabic translation is Emic's."
)

CONCEPTS = (
    "breakfast",
    "clothing",
    "dance",
    "dessert",
    "dinner",
    "drinks",
    "eating habits",
    "farming",
    "festival",
    "funeral",
    "greetings",
    "head coverings",
    "instrument",
    "lunch",
    "marriage",
    "music",
    "religion",
    "ritual",
    "sports",
    "transport",
)

COHORTS = (
    CohortSpec("Brazil", {"en": "Brazil", "ar": "البرازيل"}, "BR", ("pt",), time_zone="America/Sao_Paulo"),
    CohortSpec("China", {"en": "China", "ar": "الصين"}, "CN", ("zh",), time_zone="Asia/Shanghai"),
    CohortSpec("Egypt", {"en": "Egypt", "ar": "مصر"}, "EG", ("ar",), "rtl", "Africa/Cairo"),
    CohortSpec("Germany", {"en": "Germany", "ar": "ألمانيا"}, "DE", ("de",), time_zone="Europe/Berlin"),
    CohortSpec("India", {"en": "India", "ar": "الهند"}, "IN", ("hi", "en"), time_zone="Asia/Kolkata"),
    CohortSpec("Indonesia", {"en": "Indonesia", "ar": "إندونيسيا"}, "ID", ("id",), time_zone="Asia/Jakarta"),
    CohortSpec("Mexico", {"en": "Mexico", "ar": "المكسيك"}, "MX", ("es",), time_zone="America/Mexico_City"),
    CohortSpec("Nigeria", {"en": "Nigeria", "ar": "نيجيريا"}, "NG", ("en",), time_zone="Africa/Lagos"),
    CohortSpec("Russia", {"en": "Russia", "ar": "روسيا"}, "RU", ("ru",), time_zone="Europe/Moscow"),
    CohortSpec(
        "United States",
        {"en": "United States", "ar": "الولايات المتحدة"},
        "US",
        ("en",),
        time_zone="America/New_York",
    ),
)

CONDITIONS = (
    ConditionSpec("natural", {"en": "Natural", "ar": "طبيعية"}),
    ConditionSpec("generated", {"en": "Generated", "ar": "مولَّدة"}),
)

# code, Table 12's name and description, our Arabic of both
TABLE_12 = (
    (
        "1",
        "Not Relevant",
        "The content does not connect with or reflect the target culture at all.",
        "لا صلة لها",
        "لا يرتبط المحتوى بالثقافة المقصودة ولا يعكسها على الإطلاق.",
    ),
    (
        "2",
        "Minimally Relevant",
        "The content shows slight or superficial connections to the culture but lacks depth. May include vague "
        "references or isolated cultural elements that feel out of place or underdeveloped.",
        "صلة ضئيلة",
        "يُظهر المحتوى روابط طفيفة أو سطحية بالثقافة لكنه يفتقر إلى العمق. قد يتضمن إشارات مبهمة أو عناصر "
        "ثقافية متفرقة تبدو في غير موضعها أو غير مكتملة.",
    ),
    (
        "3",
        "Somewhat Relevant",
        "The content contains identifiable cultural references, but they may feel generic, inconsistent, or limited "
        "in scope. The connection to the culture is present but could be stronger or more meaningful.",
        "صلة إلى حدٍّ ما",
        "يتضمن المحتوى إشارات ثقافية يمكن تمييزها، لكنها قد تبدو عامة أو غير متسقة أو محدودة النطاق. الصلة "
        "بالثقافة موجودة، لكن كان يمكن أن تكون أقوى أو أعمق معنى.",
    ),
    (
        "4",
        "Relevant",
        "The content reflects a reasonable understanding of the culture, including accurate and appropriate "
        "references. It integrates cultural aspects well, though there may still be areas where more depth could "
        "be added.",
        "ذات صلة",
        "يعكس المحتوى فهمًا معقولًا للثقافة، ويتضمن إشارات دقيقة ومناسبة. ويدمج الجوانب الثقافية جيدًا، وإن "
        "بقيت جوانب يمكن أن تُعرض بعمق أكبر.",
    ),
    (
        "5",
        "Highly Relevant",
        "The content is deeply connected to the target culture, showing an immersive, accurate, and respectful "
        "understanding. Cultural references feel natural, meaningful, and central to the content.",
        "وثيقة الصلة",
        "يرتبط المحتوى ارتباطًا عميقًا بالثقافة المقصودة، ويُظهر فهمًا عميقًا ودقيقًا ومحترِمًا لها. وتبدو الإشارات "
        "الثقافية فيه طبيعية وذات معنى وفي صميم المحتوى.",
    ),
)

SHEET = {
    "fields": [
        {
            "key": "relevance",
            "kind": "rating",
            "version": 1,
            "label": {
                "en": "How much does this picture have to do with {target}?",
                "ar": "ما مدى صلة هذه الصورة بثقافة {target}؟",
            },
            "help": {},
            "required": True,
            "config": {
                "level": "ordinal",
                "points": [
                    {
                        "code": code,
                        "label": {"en": name, "ar": name_ar},
                        "definition": {"en": definition, "ar": definition_ar},
                    }
                    for code, name, definition, name_ar, definition_ar in TABLE_12
                ],
            },
        }
    ]
}

SKIP_REASONS = (
    {"code": "unknown", "label": {"en": "I do not know what it shows", "ar": "لا أعرف ما الذي تُظهره"}},
    {"code": "cannot_judge", "label": {"en": "It cannot be judged", "ar": "لا يمكن الحكم عليها"}},
    {"code": "broken", "label": {"en": "It is broken or unreadable", "ar": "الصورة معطوبة أو غير واضحة"}},
    {"code": "offensive", "label": {"en": "It is offensive", "ar": "الصورة مسيئة"}},
)

INSTRUCTIONS = {
    "en": (
        "You will see pictures of everyday things: food, clothes, music, farming, a wedding. For each one, say how "
        "much it has to do with {target}.\n\n"
        "Look at the picture first: the objects, the people, the place, the way things are done. Then choose the "
        "level whose description fits best. Judge from your own life and knowledge; there is no answer to look up, "
        "and people may differ.\n\n"
        "Some pictures are photographs, some were made by a machine. Rate what you see, not how well it is made. "
        "A picture can have much to do with {target} and with other places too.\n\n"
        "If you cannot tell what a picture shows, skip it and say why."
    ),
    "ar": (
        "سترى صورًا لأشياء من الحياة اليومية: طعام، وملابس، وموسيقى، وزراعة، وعُرس. قل عن كل صورة ما مدى صلتها "
        "بثقافة {target}.\n\n"
        "انظر إلى الصورة أولًا: الأشياء، والناس، والمكان، وطريقة فعل الأمور. ثم اختر الدرجة التي يناسبها الوصف أكثر "
        "من غيرها. احكم من حياتك ومعرفتك؛ فلا جواب يُبحث عنه، وقد يختلف الناس.\n\n"
        "بعض الصور فوتوغرافية وبعضها صنعته آلة. قيّم ما تراه لا جودة صنعه. وقد تكون للصورة صلة كبيرة بثقافة {target} "
        "وبأماكن أخرى أيضًا.\n\n"
        "إذا لم تعرف ما الذي تُظهره الصورة فتجاوزها واذكر السبب."
    ),
}

UNIVERSAL = Recipe(
    key="caire-universal",
    version="1",
    name="CAIRE, universal set",
    summary={
        "en": (
            "Twenty concepts that every culture knows, pictured for ten countries, as photographs and as generated "
            "pictures. People of each country say how much each picture has to do with their own."
        ),
        "ar": (
            "عشرون مفهومًا تعرفها كل ثقافة، مصوَّرة لعشرة بلدان، صورًا فوتوغرافية وصورًا مولَّدة. ويقول أهل كل بلد ما مدى "
            "صلة كل صورة ببلدهم."
        ),
    },
    citation=CITATION,
    licence="Each picture keeps the licence of its source.",
    cohorts=COHORTS,
    concepts=CONCEPTS,
    conditions=CONDITIONS,
    prompt="A realistic photo of {concept} in {origin}",
    stages=(
        StageSpec(
            key="relevance",
            name="Relevance rating",
            display="image",
            sheet=SHEET,
            target_answers=20,
            has_target=True,
            skip_reasons=SKIP_REASONS,
            instructions=INSTRUCTIONS,
        ),
    ),
    prediction_tasks=(
        PredictionTask(
            key="relevance-1-5",
            name="Relevance from 1 to 5, one picture and one culture at a time",
            stage="relevance",
            modes=("digit", "reason-then-score"),
            source="Figure 8",
        ),
    ),
    report=(
        ReportTable(
            key="agreement",
            title="Agreement between annotators of a country",
            stage="relevance",
            field="relevance",
            rows="cohort",
            columns="condition",
            source="Table 14",
        ),
    ),
)
