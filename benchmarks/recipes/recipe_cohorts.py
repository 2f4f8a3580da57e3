"""Countries that recipes ask, as cohorts: names in the interface's languages, main languages, a time zone.

Where a country has several zones, the one in which most of its people live.
"""

from benchmarks.recipes.contract import CohortSpec

# label, ISO 3166-1 alpha-2, Arabic, Portuguese, Amharic, languages, time zone
ROWS = (
    ("Argentina", "AR", "الأرجنتين", "Argentina", "አርጀንቲና", ("es",), "America/Argentina/Buenos_Aires"),
    ("Australia", "AU", "أستراليا", "Austrália", "አውስትራሊያ", ("en",), "Australia/Sydney"),
    ("Brazil", "BR", "البرازيل", "Brasil", "ብራዚል", ("pt",), "America/Sao_Paulo"),
    ("Canada", "CA", "كندا", "Canadá", "ካናዳ", ("en", "fr"), "America/Toronto"),
    ("China", "CN", "الصين", "China", "ቻይና", ("zh",), "Asia/Shanghai"),
    ("Ethiopia", "ET", "إثيوبيا", "Etiópia", "ኢትዮጵያ", ("am", "om", "ti"), "Africa/Addis_Ababa"),
    ("Egypt", "EG", "مصر", "Egito", "ግብፅ", ("ar",), "Africa/Cairo"),
    ("France", "FR", "فرنسا", "França", "ፈረንሳይ", ("fr",), "Europe/Paris"),
    ("Germany", "DE", "ألمانيا", "Alemanha", "ጀርመን", ("de",), "Europe/Berlin"),
    ("India", "IN", "الهند", "Índia", "ሕንድ", ("hi", "en"), "Asia/Kolkata"),
    ("Indonesia", "ID", "إندونيسيا", "Indonésia", "ኢንዶኔዥያ", ("id",), "Asia/Jakarta"),
    ("Iran", "IR", "إيران", "Irã", "ኢራን", ("fa",), "Asia/Tehran"),
    ("Israel", "IL", "إسرائيل", "Israel", "እስራኤል", ("he", "ar"), "Asia/Jerusalem"),
    ("Japan", "JP", "اليابان", "Japão", "ጃፓን", ("ja",), "Asia/Tokyo"),
    ("Kenya", "KE", "كينيا", "Quênia", "ኬንያ", ("sw", "en"), "Africa/Nairobi"),
    ("Mexico", "MX", "المكسيك", "México", "ሜክሲኮ", ("es",), "America/Mexico_City"),
    ("Nigeria", "NG", "نيجيريا", "Nigéria", "ናይጄሪያ", ("en",), "Africa/Lagos"),
    ("Pakistan", "PK", "باكستان", "Paquistão", "ፓኪስታን", ("ur", "en"), "Asia/Karachi"),
    ("Philippines", "PH", "الفلبين", "Filipinas", "ፊሊፒንስ", ("fil", "en"), "Asia/Manila"),
    ("Poland", "PL", "بولندا", "Polônia", "ፖላንድ", ("pl",), "Europe/Warsaw"),
    ("Portugal", "PT", "البرتغال", "Portugal", "ፖርቱጋል", ("pt",), "Europe/Lisbon"),
    ("Russia", "RU", "روسيا", "Rússia", "ሩሲያ", ("ru",), "Europe/Moscow"),
    ("Rwanda", "RW", "رواندا", "Ruanda", "ሩዋንዳ", ("rw", "en"), "Africa/Kigali"),
    ("Saudi Arabia", "SA", "السعودية", "Arábia Saudita", "ሳዑዲ አረቢያ", ("ar",), "Asia/Riyadh"),
    (
        "South Africa",
        "ZA",
        "جنوب أفريقيا",
        "África do Sul",
        "ደቡብ አፍሪካ",
        ("zu", "xh", "af", "en"),
        "Africa/Johannesburg",
    ),
    ("South Korea", "KR", "كوريا الجنوبية", "Coreia do Sul", "ደቡብ ኮሪያ", ("ko",), "Asia/Seoul"),
    ("Spain", "ES", "إسبانيا", "Espanha", "ስፔን", ("es",), "Europe/Madrid"),
    ("Thailand", "TH", "تايلاند", "Tailândia", "ታይላንድ", ("th",), "Asia/Bangkok"),
    ("Turkey", "TR", "تركيا", "Turquia", "ቱርክ", ("tr",), "Europe/Istanbul"),
    ("United Kingdom", "GB", "المملكة المتحدة", "Reino Unido", "ዩናይትድ ኪንግደም", ("en",), "Europe/London"),
    ("United States", "US", "الولايات المتحدة", "Estados Unidos", "ዩናይትድ ስቴትስ", ("en",), "America/New_York"),
    ("Vietnam", "VN", "فيتنام", "Vietnã", "ቬትናም", ("vi",), "Asia/Ho_Chi_Minh"),
)
RIGHT_TO_LEFT = {"ar", "fa", "he", "ur"}
PLACES = {
    label: CohortSpec(
        label,
        {"en": label, "ar": arabic, "pt": portuguese, "am": amharic},
        code,
        languages,
        "rtl" if languages[0] in RIGHT_TO_LEFT else "ltr",
        zone,
    )
    for label, code, arabic, portuguese, amharic, languages, zone in ROWS
}


def country_cohorts(*labels: str) -> tuple[CohortSpec, ...]:
    """The cohorts of some countries, in this order. Raises KeyError for one that is not listed."""
    return tuple(PLACES[label] for label in labels)
