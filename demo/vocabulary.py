"""What the demo's cohorts call the things in its pictures: used as questions, as answers and as words to find.

Invented for the demo; every name fits what the drawing shows.
"""

FACETS = {
    "breakfast": "food", "clothing": "clothing", "dance": "traditions", "dessert": "food", "drinks": "drink",
    "farming": "traditions", "festival": "rituals", "head coverings": "clothing", "instrument": "traditions",
    "lunch": "food", "religion": "rituals", "transport": "traditions",
}  # fmt: skip
NAMES = {
    "Egypt": {
        "breakfast": "Ful medames", "clothing": "Galabeya", "dance": "Tanoura", "dessert": "Basbousa",
        "drinks": "Mint tea", "farming": "Wheat", "festival": "Fanous", "head coverings": "Turban",
        "instrument": "Oud", "lunch": "Koshari", "religion": "Mosque", "transport": "Felucca",
    },
    "Brazil": {
        "breakfast": "Pão de queijo", "clothing": "Poncho", "dance": "Samba de roda", "dessert": "Brigadeiro",
        "drinks": "Cafezinho", "farming": "Coffee", "festival": "Festa Junina", "head coverings": "Chapéu de couro",
        "instrument": "Pandeiro", "lunch": "Feijoada", "religion": "Igreja", "transport": "Bonde",
    },
    "China": {
        "breakfast": "Congee", "clothing": "Qipao", "dance": "Shuixiu", "dessert": "Mooncake",
        "drinks": "Gaiwan tea", "farming": "Rice", "festival": "Lantern Festival", "head coverings": "Douli",
        "instrument": "Pipa", "lunch": "Dumplings", "religion": "Pagoda", "transport": "Fast train",
    },
}  # fmt: skip
GENERIC = {
    "breakfast": "Beans", "clothing": "A robe", "dance": "A folk dance", "dessert": "A cake", "drinks": "Tea",
    "farming": "A field", "festival": "A party", "head coverings": "A hat", "instrument": "A lute",
    "lunch": "A stew", "religion": "A temple", "transport": "A boat",
}  # fmt: skip
"""What somebody says who does not know the culture."""
