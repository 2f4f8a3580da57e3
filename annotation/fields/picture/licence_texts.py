"""What the licences of a picture are called on a sheet, by language. Names of licences stay as they are."""

# ruff: noqa: RUF001  (letters of other scripts that resemble Latin ones)

OWN_PICTURE = {
    "en": "I took it myself", "ar": "التقطتها بنفسي", "pt": "Foi feita por mim", "am": "እኔው ነኝ ያነሳሁት",
    "bn": "আমি নিজে তুলেছি", "de": "Selbst aufgenommen", "es": "La tomé yo", "fa": "خودم آن را گرفته‌ام",
    "fr": "Je l’ai prise moi-même", "hi": "मैंने खुद खींची है", "id": "Saya mengambilnya sendiri",
    "ja": "自分で撮影しました", "ko": "직접 찍었습니다", "ru": "Снимок сделан мной", "sw": "Niliipiga mwenyewe",
    "tr": "Kendim çektim", "yo": "Èmi fúnra mi ni mo yà á", "zh": "我自己拍的",
}  # fmt: skip
NO_RIGHTS = {
    "en": "CC0 (no rights reserved)", "ar": "CC0 (بلا حقوق محفوظة)", "pt": "CC0 (sem direitos reservados)",
    "am": "CC0 (መብቱ ያልተጠበቀ)", "bn": "CC0 (কোনো অধিকার সংরক্ষিত নয়)", "de": "CC0 (keine Rechte vorbehalten)",
    "es": "CC0 (sin derechos reservados)", "fa": "CC0 (بدون حقوق محفوظ)", "fr": "CC0 (aucun droit réservé)",
    "hi": "CC0 (कोई अधिकार सुरक्षित नहीं)", "id": "CC0 (tanpa hak yang dipertahankan)", "ja": "CC0（権利を留保しない）",
    "ko": "CC0(권리를 보유하지 않음)", "ru": "CC0 (права не сохраняются)", "sw": "CC0 (hakuna haki zilizohifadhiwa)",
    "tr": "CC0 (hiçbir hakkı saklı değildir)", "yo": "CC0 (kò sí ẹ̀tọ́ tí a fi pamọ́)", "zh": "CC0（不保留任何权利）",
}  # fmt: skip
PUBLIC_DOMAIN = {
    "en": "Public domain", "ar": "ملك عام", "pt": "Domínio público", "am": "የሕዝብ ንብረት", "bn": "পাবলিক ডোমেইন",
    "de": "Gemeinfrei", "es": "Dominio público", "fa": "مالکیت عمومی", "fr": "Domaine public",
    "hi": "सार्वजनिक डोमेन", "id": "Domain publik", "ja": "パブリックドメイン", "ko": "퍼블릭 도메인",
    "ru": "Общественное достояние", "sw": "Mali ya umma", "tr": "Kamu malı", "yo": "Ohun ìní gbogbo ènìyàn",
    "zh": "公有领域",
}  # fmt: skip
UNKNOWN = {
    "en": "I do not know", "ar": "لا أعرف", "pt": "Não sei", "am": "አላውቅም", "bn": "আমি জানি না",
    "de": "Weiß ich nicht", "es": "No lo sé", "fa": "نمی‌دانم", "fr": "Je ne sais pas", "hi": "मुझे नहीं पता",
    "id": "Saya tidak tahu", "ja": "わかりません", "ko": "모릅니다", "ru": "Не знаю", "sw": "Sijui",
    "tr": "Bilmiyorum", "yo": "Mi ò mọ̀", "zh": "我不知道",
}  # fmt: skip
