"""Countries: ISO 3166-1 alpha-2 codes, the short English name, other spellings, continent, values zone, Western or not.

Sources. Codes and names: ISO 3166-1, in the short form that people use. Continents: the regions of the United Nations
(M49); its Americas are North America (with Central America and the Caribbean) and South America. Values zones: the
cultural map of the World Values Survey (Inglehart and Welzel, 2023); empty for a country that this table does not
place. Western (ours): the zones English-speaking, Protestant Europe and Catholic Europe; unknown where the zone is.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from types import MappingProxyType

from benchmarks.rules.label_sets.contract import LabelSetSpec, LabelSpec

NAMES = dict(
    line.split(" ", 1)
    for line in """
AD Andorra|AE United Arab Emirates|AF Afghanistan|AG Antigua and Barbuda|AI Anguilla|AL Albania|AM Armenia|AO Angola
AQ Antarctica|AR Argentina|AS American Samoa|AT Austria|AU Australia|AW Aruba|AX Åland Islands|AZ Azerbaijan
BA Bosnia and Herzegovina|BB Barbados|BD Bangladesh|BE Belgium|BF Burkina Faso|BG Bulgaria|BH Bahrain|BI Burundi
BJ Benin|BL Saint Barthélemy|BM Bermuda|BN Brunei|BO Bolivia|BQ Bonaire, Sint Eustatius and Saba|BR Brazil|BS Bahamas
BT Bhutan|BV Bouvet Island|BW Botswana|BY Belarus|BZ Belize|CA Canada|CC Cocos Islands|CD DR Congo
CF Central African Republic|CG Congo|CH Switzerland|CI Côte d'Ivoire|CK Cook Islands|CL Chile|CM Cameroon|CN China
CO Colombia|CR Costa Rica|CU Cuba|CV Cabo Verde|CW Curaçao|CX Christmas Island|CY Cyprus|CZ Czechia|DE Germany
DJ Djibouti|DK Denmark|DM Dominica|DO Dominican Republic|DZ Algeria|EC Ecuador|EE Estonia|EG Egypt|EH Western Sahara
ER Eritrea|ES Spain|ET Ethiopia|FI Finland|FJ Fiji|FK Falkland Islands|FM Micronesia|FO Faroe Islands|FR France
GA Gabon|GB United Kingdom|GD Grenada|GE Georgia|GF French Guiana|GG Guernsey|GH Ghana|GI Gibraltar|GL Greenland
GM Gambia|GN Guinea|GP Guadeloupe|GQ Equatorial Guinea|GR Greece|GS South Georgia and the South Sandwich Islands
GT Guatemala|GU Guam|GW Guinea-Bissau|GY Guyana|HK Hong Kong|HM Heard Island and McDonald Islands|HN Honduras
HR Croatia|HT Haiti|HU Hungary|ID Indonesia|IE Ireland|IL Israel|IM Isle of Man|IN India
IO British Indian Ocean Territory|IQ Iraq|IR Iran|IS Iceland|IT Italy|JE Jersey|JM Jamaica|JO Jordan|JP Japan|KE Kenya
KG Kyrgyzstan|KH Cambodia|KI Kiribati|KM Comoros|KN Saint Kitts and Nevis|KP North Korea|KR South Korea|KW Kuwait
KY Cayman Islands|KZ Kazakhstan|LA Laos|LB Lebanon|LC Saint Lucia|LI Liechtenstein|LK Sri Lanka|LR Liberia|LS Lesotho
LT Lithuania|LU Luxembourg|LV Latvia|LY Libya|MA Morocco|MC Monaco|MD Moldova|ME Montenegro|MF Saint Martin
MG Madagascar|MH Marshall Islands|MK North Macedonia|ML Mali|MM Myanmar|MN Mongolia|MO Macao|MP Northern Mariana Islands
MQ Martinique|MR Mauritania|MS Montserrat|MT Malta|MU Mauritius|MV Maldives|MW Malawi|MX Mexico|MY Malaysia
MZ Mozambique|NA Namibia|NC New Caledonia|NE Niger|NF Norfolk Island|NG Nigeria|NI Nicaragua|NL Netherlands|NO Norway
NP Nepal|NR Nauru|NU Niue|NZ New Zealand|OM Oman|PA Panama|PE Peru|PF French Polynesia|PG Papua New Guinea
PH Philippines|PK Pakistan|PL Poland|PM Saint Pierre and Miquelon|PN Pitcairn|PR Puerto Rico|PS Palestine|PT Portugal
PW Palau|PY Paraguay|QA Qatar|RE Réunion|RO Romania|RS Serbia|RU Russia|RW Rwanda|SA Saudi Arabia|SB Solomon Islands
SC Seychelles|SD Sudan|SE Sweden|SG Singapore|SH Saint Helena, Ascension and Tristan da Cunha|SI Slovenia
SJ Svalbard and Jan Mayen|SK Slovakia|SL Sierra Leone|SM San Marino|SN Senegal|SO Somalia|SR Suriname|SS South Sudan
ST Sao Tome and Principe|SV El Salvador|SX Sint Maarten|SY Syria|SZ Eswatini|TC Turks and Caicos Islands|TD Chad
TF French Southern Territories|TG Togo|TH Thailand|TJ Tajikistan|TK Tokelau|TL Timor-Leste|TM Turkmenistan|TN Tunisia
TO Tonga|TR Türkiye|TT Trinidad and Tobago|TV Tuvalu|TW Taiwan|TZ Tanzania|UA Ukraine|UG Uganda
UM United States Minor Outlying Islands|US United States|UY Uruguay|UZ Uzbekistan|VA Holy See
VC Saint Vincent and the Grenadines|VE Venezuela|VG British Virgin Islands|VI U.S. Virgin Islands|VN Vietnam
VU Vanuatu|WF Wallis and Futuna|WS Samoa|YE Yemen|YT Mayotte|ZA South Africa|ZM Zambia|ZW Zimbabwe
""".strip()
    .replace("\n", "|")
    .split("|")
)

ALIASES = {
    "america": "US",
    "bolivia, plurinational state of": "BO",
    "britain": "GB",
    "brunei darussalam": "BN",
    "burma": "MM",
    "cape verde": "CV",
    "congo, democratic republic of the": "CD",
    "cote d'ivoire": "CI",
    "czech republic": "CZ",
    "democratic republic of the congo": "CD",
    "england": "GB",
    "great britain": "GB",
    "holland": "NL",
    "iran, islamic republic of": "IR",
    "ivory coast": "CI",
    "korea": "KR",
    "korea, republic of": "KR",
    "macau": "MO",
    "republic of korea": "KR",
    "russian federation": "RU",
    "swaziland": "SZ",
    "syrian arab republic": "SY",
    "tanzania, united republic of": "TZ",
    "the gambia": "GM",
    "the netherlands": "NL",
    "turkey": "TR",
    "u.k.": "GB",
    "u.s.": "US",
    "u.s.a.": "US",
    "uae": "AE",
    "uk": "GB",
    "united republic of tanzania": "TZ",
    "united states of america": "US",
    "usa": "US",
    "vatican": "VA",
    "viet nam": "VN",
}

# Spellings of papers and data sets that are no name above ("srilanka", "phillippines").
SPELLINGS = {"us": "US", "united states of america": "US", "phillippines": "PH", "the philippines": "PH"}

CONTINENTS = {
    "Africa": (
        "AO BF BI BJ BW CD CF CG CI CM CV DJ DZ EG EH ER ET GA GH GM GN GQ GW IO KE KM LR LS LY MA MG ML MR MU MW MZ "
        "NA NE NG RE RW SC SD SH SL SN SO SS ST SZ TD TF TG TN TZ UG YT ZA ZM ZW"
    ),
    "Antarctica": "AQ",
    "Asia": (
        "AE AF AM AZ BD BH BN BT CN CY GE HK ID IL IN IQ IR JO JP KG KH KP KR KW KZ LA LB LK MM MN MO MV MY NP OM PH "
        "PK PS QA SA SG SY TH TJ TL TM TR TW UZ VN YE"
    ),
    "Europe": (
        "AD AL AT AX BA BE BG BY CH CZ DE DK EE ES FI FO FR GB GG GI GR HR HU IE IM IS IT JE LI LT LU LV MC MD ME MK "
        "MT NL NO PL PT RO RS RU SE SI SJ SK SM UA VA"
    ),
    "North America": (
        "AG AI AW BB BL BM BQ BS BZ CA CR CU CW DM DO GD GL GP GT HN HT JM KN KY LC MF MQ MS MX NI PA PM PR SV SX TC "
        "TT US VC VG VI"
    ),
    "Oceania": "AS AU CC CK CX FJ FM GU HM KI MH MP NC NF NR NU NZ PF PG PN PW SB TK TO TV UM VU WF WS",
    "South America": "AR BO BR BV CL CO EC FK GF GS GY PE PY SR UY VE",
}
ZONES = {
    "African-Islamic": (
        "AL AZ BD BF DZ EG ET GH ID IQ IR JO KE KG LB LY MA ML MV NG PK PS QA RW SA TJ TN TR TZ UG UZ YE ZA ZM ZW"
    ),
    "Catholic Europe": "AD AT BE CZ ES FR HR HU IT LT LU PL PT SI SK",
    "Confucian": "CN HK JP KR MO TW",
    "English-speaking": "AU CA GB IE NZ US",
    "Latin America": "AR BO BR CL CO EC GT HT MX NI PE PR UY VE",
    "Orthodox Europe": "AM BA BG BY GE GR MD ME MK RO RS RU UA",
    "Protestant Europe": "CH DE DK FI IS NL NO SE",
    "West and South Asia": "IN MY SG TH VN",
}
WESTERN_ZONES = ("English-speaking", "Protestant Europe", "Catholic Europe")


def _normalise(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().casefold()
    return "".join(letter for letter in plain if letter.isalnum())


def _by_code(table: Mapping[str, str]) -> dict[str, str]:
    return {code: group for group, codes in table.items() for code in codes.split()}


CONTINENT_OF: Mapping[str, str] = MappingProxyType(_by_code(CONTINENTS))
ZONE_OF: Mapping[str, str] = MappingProxyType(_by_code(ZONES))
_CODES: Mapping[str, str] = MappingProxyType(
    {_normalise(code): code for code in NAMES}
    | {_normalise(name): code for code, name in NAMES.items()}
    | {_normalise(name): code for name, code in (ALIASES | SPELLINGS).items()}
)


def country_code(name: str) -> str:
    """The ISO code of a country, by any of its spellings or by the code; another name stays as it is, trimmed.

    >>> [country_code(name) for name in ("srilanka", "Sri Lanka", "LK", " Ruritania")]
    ['LK', 'LK', 'LK', 'Ruritania']
    """
    return _CODES.get(_normalise(name), name.strip())


def western_of(code: str) -> bool | None:
    """Whether a country counts as Western; None where its values zone is unknown."""
    return ZONE_OF[code] in WESTERN_ZONES if code in ZONE_OF else None


def country_label(code: str, text: str = "", region: str = "", names: Mapping[str, str] | None = None) -> LabelSpec:
    """The label of a country, by its own text where a paper calls it something else than ISO does."""
    name = text or NAMES[code]
    others = [NAMES[code], *(alias for alias, of in sorted(ALIASES.items()) if of == code)]
    return LabelSpec(
        key=code,
        text=name,
        names=dict(names or {}),
        country=code,
        continent=CONTINENT_OF[code],
        region=region,
        values_zone=ZONE_OF.get(code, ""),
        western=western_of(code),
        aliases=tuple(other for other in others if other != name),
    )


COUNTRIES = LabelSetSpec(
    key="countries",
    name="Countries of the world",
    kind="countries",
    labels=tuple(country_label(code) for code in sorted(NAMES, key=lambda code: _normalise(NAMES[code]))),
    source="ISO 3166-1; continents: United Nations M49; values zones: World Values Survey, cultural map of 2023",
)
