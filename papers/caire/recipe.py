"""CAIRE: how relevant is a picture of a universal concept to each of ten cultures, and its `specific` set.

The English names and definitions of the five levels are quoted from Table 12 (Appendix C.3), the concepts from
Table 9, cohorts, conditions and the 20 answers per picture and cohort from sections 4.2 and D of

    Arnav Yayavaram, Siddharth Yayavaram, Simran Khanuja, Michael Saxon, Graham Neubig.
    CAIRE: Cultural Attribution of Images by Retrieval-Augmented Evaluation. arXiv:2506.09109, 2025.

Question, instructions, skip reasons and everything in other languages than English are ours. The specific set (section
4.1, Table 13) has pictures of rare concepts with several gold labels each: no list of labels is printed in full.
"""

from benchmarks.recipes.contract import CohortSpec, ConditionSpec, PredictionTask, Recipe, ReportTable, StageSpec
from benchmarks.recipes.parts import PICTURE_SKIP_REASONS
from papers.caire.recipe_links import LINK_CHECK
from papers.caire.recipe_models import MODEL_CONDITIONS
from papers.caire.recipe_pictures import GENERATED, PHOTOGRAPHS, PICK, PROMPTS, TO_RATE
from papers.caire.recipe_specific import CONCEPTS as RARE_CONCEPTS
from papers.caire.recipe_specific import FROM_PICTURES, NOT_IN_BASE, PROPOSALS
from papers.caire.recipe_specific import PICTURES as RARE_PICTURES

CITATION = (
    "Arnav Yayavaram, Siddharth Yayavaram, Simran Khanuja, Michael Saxon, Graham Neubig. "
    "CAIRE: Cultural Attribution of Images by Retrieval-Augmented Evaluation. arXiv:2506.09109, 2025. "
    "The definitions of the five levels are quoted from its Table 12; their translations are Emic's."
)

CONCEPTS = (
    "breakfast", "clothing", "dance", "dessert", "dinner", "drinks", "eating habits", "farming", "festival",
    "funeral", "greetings", "head coverings", "instrument", "lunch", "marriage", "music", "religion", "ritual",
    "sports", "transport",
)  # fmt: skip

COHORTS = (
    CohortSpec(
        "Brazil",
        {"en": "Brazil", "ar": "البرازيل", "pt": "Brasil", "am": "ብራዚል"},
        "BR",
        ("pt",),
        time_zone="America/Sao_Paulo",
    ),
    CohortSpec(
        "China", {"en": "China", "ar": "الصين", "pt": "China", "am": "ቻይና"}, "CN", ("zh",), time_zone="Asia/Shanghai"
    ),
    CohortSpec("Egypt", {"en": "Egypt", "ar": "مصر", "pt": "Egito", "am": "ግብፅ"}, "EG", ("ar",), "rtl", "Africa/Cairo"),
    CohortSpec(
        "Germany",
        {"en": "Germany", "ar": "ألمانيا", "pt": "Alemanha", "am": "ጀርመን"},
        "DE",
        ("de",),
        time_zone="Europe/Berlin",
    ),
    CohortSpec(
        "India",
        {"en": "India", "ar": "الهند", "pt": "Índia", "am": "ሕንድ"},
        "IN",
        ("hi", "en"),
        time_zone="Asia/Kolkata",
    ),
    CohortSpec(
        "Indonesia",
        {"en": "Indonesia", "ar": "إندونيسيا", "pt": "Indonésia", "am": "ኢንዶኔዥያ"},
        "ID",
        ("id",),
        time_zone="Asia/Jakarta",
    ),
    CohortSpec(
        "Mexico",
        {"en": "Mexico", "ar": "المكسيك", "pt": "México", "am": "ሜክሲኮ"},
        "MX",
        ("es",),
        time_zone="America/Mexico_City",
    ),
    CohortSpec(
        "Nigeria",
        {"en": "Nigeria", "ar": "نيجيريا", "pt": "Nigéria", "am": "ናይጄሪያ"},
        "NG",
        ("en",),
        time_zone="Africa/Lagos",
    ),
    CohortSpec(
        "Russia",
        {"en": "Russia", "ar": "روسيا", "pt": "Rússia", "am": "ሩሲያ"},
        "RU",
        ("ru",),
        time_zone="Europe/Moscow",
    ),
    CohortSpec(
        "United States",
        {"en": "United States", "ar": "الولايات المتحدة", "pt": "Estados Unidos", "am": "ዩናይትድ ስቴትስ"},
        "US",
        ("en",),
        time_zone="America/New_York",
    ),
)

CONDITIONS = (
    ConditionSpec("natural", {"en": "Natural", "ar": "طبيعية", "pt": "Natural", "am": "ፎቶግራፍ"}),
    ConditionSpec("generated", {"en": "Generated", "ar": "مولَّدة", "pt": "Gerada", "am": "በማሽን የተሠራ"}),
)

# code, Table 12's name and description, each with our translations
TABLE_12 = (
    (
        "1",
        {"en": "Not Relevant", "ar": "لا صلة لها", "pt": "Sem relação", "am": "ግንኙነት የለውም"},
        {
            "en": "The content does not connect with or reflect the target culture at all.",
            "ar": "لا يرتبط المحتوى بالثقافة المقصودة ولا يعكسها على الإطلاق.",
            "pt": "O conteúdo não se liga à cultura em questão nem a reflete de modo algum.",
            "am": "ይዘቱ ከተጠቀሰው ባህል ጋር በምንም መንገድ አይገናኝም፣ ባህሉንም አያንጸባርቅም።",
        },
    ),
    (
        "2",
        {"en": "Minimally Relevant", "ar": "صلة ضئيلة", "pt": "Relação mínima", "am": "በጣም ትንሽ ግንኙነት"},
        {
            "en": (
                "The content shows slight or superficial connections to the culture but lacks depth. May include "
                "vague references or isolated cultural elements that feel out of place or underdeveloped."
            ),
            "ar": (
                "يُظهر المحتوى روابط طفيفة أو سطحية بالثقافة لكنه يفتقر إلى العمق. قد يتضمن إشارات مبهمة أو عناصر "
                "ثقافية متفرقة تبدو في غير موضعها أو غير مكتملة."
            ),
            "pt": (
                "O conteúdo mostra ligações leves ou superficiais com a cultura, mas sem profundidade. Pode incluir "
                "referências vagas ou elementos culturais isolados que parecem fora do lugar ou pouco desenvolvidos."
            ),
            "am": (
                "ይዘቱ ከባህሉ ጋር ጥቂት ወይም ላይ ላዩን ግንኙነት ያሳያል፣ ግን ጥልቀት የለውም። ግልጽ ያልሆኑ ጥቆማዎች፣ ወይም ቦታቸው ያልሆነ "
                "ወይም ያልተሟሉ የሚመስሉ ነጠላ የባህል ነገሮች ሊኖሩት ይችላሉ።"
            ),
        },
    ),
    (
        "3",
        {"en": "Somewhat Relevant", "ar": "صلة إلى حدٍّ ما", "pt": "Alguma relação", "am": "በመጠኑ ግንኙነት አለው"},
        {
            "en": (
                "The content contains identifiable cultural references, but they may feel generic, inconsistent, or "
                "limited in scope. The connection to the culture is present but could be stronger or more meaningful."
            ),
            "ar": (
                "يتضمن المحتوى إشارات ثقافية يمكن تمييزها، لكنها قد تبدو عامة أو غير متسقة أو محدودة النطاق. الصلة "
                "بالثقافة موجودة، لكن كان يمكن أن تكون أقوى أو أعمق معنى."
            ),
            "pt": (
                "O conteúdo tem referências culturais que se reconhecem, mas que podem parecer genéricas, incoerentes "
                "ou limitadas. A ligação com a cultura existe, mas poderia ser mais forte ou ter mais sentido."
            ),
            "am": (
                "ይዘቱ የሚለዩ የባህል ምልክቶች አሉት፤ ነገር ግን የትም የሚገኙ፣ እርስ በርስ የማይስማሙ ወይም ውስን ሊመስሉ ይችላሉ። ከባህሉ ጋር "
                "ግንኙነት አለ፤ ሆኖም የበለጠ ጠንካራ ወይም ትርጉም ያለው ሊሆን ይችል ነበር።"
            ),
        },
    ),
    (
        "4",
        {"en": "Relevant", "ar": "ذات صلة", "pt": "Com relação", "am": "ግንኙነት አለው"},
        {
            "en": (
                "The content reflects a reasonable understanding of the culture, including accurate and appropriate "
                "references. It integrates cultural aspects well, though there may still be areas where more depth "
                "could be added."
            ),
            "ar": (
                "يعكس المحتوى فهمًا معقولًا للثقافة، ويتضمن إشارات دقيقة ومناسبة. ويدمج الجوانب الثقافية جيدًا، وإن "
                "بقيت جوانب يمكن أن تُعرض بعمق أكبر."
            ),
            "pt": (
                "O conteúdo reflete um entendimento razoável da cultura, com referências corretas e adequadas. "
                "Integra bem os aspectos culturais, embora ainda possa haver pontos em que caberia mais profundidade."
            ),
            "am": (
                "ይዘቱ ስለ ባህሉ በቂ ግንዛቤን ያንጸባርቃል፤ ትክክለኛና ተገቢ ምልክቶችም አሉት። የባህሉን ገጽታዎች በሚገባ ያዋህዳል፤ ሆኖም ተጨማሪ "
                "ጥልቀት ሊኖራቸው የሚችሉ ነገሮች ሊቀሩ ይችላሉ።"
            ),
        },
    ),
    (
        "5",
        {"en": "Highly Relevant", "ar": "وثيقة الصلة", "pt": "Muita relação", "am": "በጣም ጠንካራ ግንኙነት"},
        {
            "en": (
                "The content is deeply connected to the target culture, showing an immersive, accurate, and respectful "
                "understanding. Cultural references feel natural, meaningful, and central to the content."
            ),
            "ar": (
                "يرتبط المحتوى ارتباطًا عميقًا بالثقافة المقصودة، ويُظهر فهمًا عميقًا ودقيقًا ومحترِمًا لها. وتبدو "
                "الإشارات الثقافية فيه طبيعية وذات معنى وفي صميم المحتوى."
            ),
            "pt": (
                "O conteúdo está profundamente ligado à cultura em questão e mostra um entendimento vivido, correto e "
                "respeitoso. As referências culturais parecem naturais, cheias de sentido e centrais no conteúdo."
            ),
            "am": (
                "ይዘቱ ከተጠቀሰው ባህል ጋር በጥልቀት የተሳሰረ ነው፤ ከውስጥ የሆነ፣ ትክክለኛና አክብሮት ያለው ግንዛቤ ያሳያል። የባህል ምልክቶቹ "
                "ተፈጥሯዊ፣ ትርጉም ያላቸውና የይዘቱ ማዕከል ሆነው ይታያሉ።"
            ),
        },
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
                "pt": "{target}: quanto esta imagem tem a ver com essa cultura?",
                "am": "ይህ ምስል ከ{target} ጋር ምን ያህል ግንኙነት አለው?",
            },
            "help": {},
            "required": True,
            "config": {
                "level": "ordinal",
                "points": [
                    {"code": code, "label": name, "definition": definition} for code, name, definition in TABLE_12
                ],
            },
        }
    ]
}

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
    "pt": (
        "Você vai ver imagens de coisas do dia a dia: comida, roupas, música, lavoura, um casamento. Para cada uma, "
        "diga quanto ela tem a ver com esta cultura: {target}.\n\n"
        "Primeiro olhe a imagem: os objetos, as pessoas, o lugar, o jeito de fazer as coisas. Depois escolha o nível "
        "cuja descrição combina melhor. Julgue pela sua própria vida e pelo que você sabe; não há resposta para "
        "procurar, e as pessoas podem discordar.\n\n"
        "Algumas imagens são fotografias, outras foram feitas por uma máquina. Avalie o que você vê, não se está bem "
        "feito. Uma imagem pode ter muito a ver com esta cultura e com outros lugares também.\n\n"
        "Se não der para saber o que uma imagem mostra, pule e diga por quê."
    ),
    "am": (
        "የዕለት ተዕለት ነገሮችን ምስሎች ያያሉ፦ ምግብ፣ ልብስ፣ ሙዚቃ፣ እርሻ፣ ሠርግ። ለእያንዳንዱ ምስል ከ{target} ጋር ምን ያህል ግንኙነት "
        "እንዳለው ይናገሩ።\n\n"
        "በመጀመሪያ ምስሉን ይመልከቱ፦ ዕቃዎቹን፣ ሰዎቹን፣ ቦታውን፣ ነገሮች የሚደረጉበትን መንገድ። ከዚያ መግለጫው ከሁሉም የሚስማማውን ደረጃ "
        "ይምረጡ። ከራስዎ ሕይወትና እውቀት ተነስተው ይፍረዱ፤ የሚፈለግ መልስ የለም፣ ሰዎችም ሊለያዩ ይችላሉ።\n\n"
        "አንዳንዶቹ ምስሎች ፎቶግራፎች ናቸው፤ አንዳንዶቹን ማሽን ሠርቷቸዋል። የሚያዩትን ይመዝኑ እንጂ እንዴት እንደተሠራ አይደለም። አንድ ምስል "
        "ከ{target} ጋርም ከሌሎች ቦታዎች ጋርም ብዙ ግንኙነት ሊኖረው ይችላል።\n\n"
        "ምስሉ ምን እንደሚያሳይ መለየት ካልቻሉ ይለፉትና ምክንያቱን ይናገሩ።"
    ),
}

SPECIFIC_INSTRUCTIONS = {
    "en": (
        "You will see pictures of things that few people know: a dish, a dress, a rite, a building. For each one, say how "
        "much it has to do with {target}.\n\n"
        "Look at the picture first. Then choose the level whose description fits best. A picture can have much to do "
        "with several cultures at once.\n\n"
        "If you cannot tell what a picture shows, skip it and say why."
    )
}

UNIVERSAL = Recipe(
    key="caire-universal",
    version="5",
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
        "pt": (
            "Vinte conceitos que toda cultura conhece, em imagens de dez países, fotografadas e geradas. As pessoas de "
            "cada país dizem quanto cada imagem tem a ver com o seu."
        ),
        "am": (
            "ሁሉም ባህል የሚያውቃቸው ሃያ ጽንሰ ሐሳቦች፣ ለዐሥር አገሮች በፎቶግራፍና በማሽን በተሠሩ ምስሎች። የየአገሩ ሰዎች እያንዳንዱ ምስል ከአገራቸው "
            "ጋር ምን ያህል ግንኙነት እንዳለው ይናገራሉ።"
        ),
    },
    citation=CITATION,
    licence="Each picture keeps the licence of its source.",
    cohorts=COHORTS,
    concepts=CONCEPTS,
    conditions=CONDITIONS,
    prompt="A realistic photo of {concept} in {origin}",
    expected_stage="relevance",
    stages=(
        PROMPTS,
        PHOTOGRAPHS,
        PICK,
        GENERATED,
        StageSpec(
            key="relevance",
            name="Relevance rating",
            display="image",
            sheet=SHEET,
            target_answers=20,
            has_target=True,
            derivation=TO_RATE,
            skip_reasons=PICTURE_SKIP_REASONS,
            instructions=INSTRUCTIONS,
        ),
        PROPOSALS,
        RARE_CONCEPTS,
        RARE_PICTURES,
        StageSpec(
            key="specific",
            name="Specific set",
            display="image",
            sheet=SHEET,
            target_answers=0,
            has_target=True,
            asked_about="own_set",
            own_vocabulary=True,
            derivation=FROM_PICTURES,
            filters=NOT_IN_BASE,
            skip_reasons=PICTURE_SKIP_REASONS,
            instructions=SPECIFIC_INSTRUCTIONS,
            sample=(
                {
                    "file": "specific/namahage-01.jpg",
                    "key": "namahage-01",
                    "concept": "Namahage",
                    "gold": "Japan|Akita",
                    "gold_entity": "bn:00056865n",
                    "fact.base_similarity": "0.4",
                    "label_set": "Countries of the world",
                    "source": "https://example.org/page",
                    "licence": "CC BY 4.0",
                },
            ),
        ),
        LINK_CHECK,
    ),
    prediction_tasks=(
        PredictionTask(
            key="relevance-1-5",
            name="Relevance from 1 to 5, one picture and one culture at a time",
            stage="relevance",
            modes=("digit", "reason-then-score"),
            source="Figure 8",
        ),
        PredictionTask(
            key="specific-1-5",
            name="Relevance from 1 to 5, one picture and one label at a time",
            stage="specific",
            modes=("digit", "reason-then-score"),
            source="Figure 8, Table 1",
        ),
    ),
    model_conditions=MODEL_CONDITIONS,
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
