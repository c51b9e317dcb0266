"""Forms of English words: singulars, and the whole words that abbreviations stand for."""

from __future__ import annotations

from functools import lru_cache

_IRREGULAR = {
    "people": "person", "children": "child", "men": "man", "women": "woman", "indices": "index",
    "vertices": "vertex", "matrices": "matrix", "criteria": "criterion", "analyses": "analysis", "feet": "foot",
    "teeth": "tooth", "mice": "mouse", "geese": "goose", "leaves": "leaf", "knives": "knife", "lives": "life",
    "halves": "half", "shelves": "shelf", "wives": "wife", "wolves": "wolf", "media": "medium", "data": "data",
    "movies": "movie", "cookies": "cookie", "series": "series", "species": "species", "news": "news",
    "aliases": "alias", "statuses": "status", "buses": "bus", "viruses": "virus", "appendices": "appendix",
    "addresses": "address", "axes": "axis", "bases": "base", "diagnoses": "diagnosis", "quizzes": "quiz",
    "categories": "category", "caches": "cache", "invoices": "invoice", "licenses": "license", "zombies": "zombie",
}  # fmt: skip
_KEPT_S = ("ss", "us", "is", "ous", "news")
# Abbreviations that names of fields use for whole words.
ABBREVIATIONS = {
    "num": "number", "no": "number", "nr": "number", "addr": "address", "dest": "destination", "src": "source",
    "desc": "description", "qty": "quantity", "amt": "amount", "acct": "account", "org": "organization",
    "repo": "repository", "dir": "directory", "msg": "message", "pwd": "password", "tel": "phone", "img": "image",
    "lang": "language", "cat": "category", "dept": "department", "emp": "employee", "cust": "customer",
    "pic": "picture", "pkg": "package", "ref": "reference", "txn": "transaction", "usr": "user", "info": "information",
    "lat": "latitude", "lng": "longitude", "lon": "longitude", "tz": "timezone", "organisation": "organization",
    "filename": "file_name", "username": "user_name", "zipcode": "zip_code", "postcode": "zip_code",
    "hostname": "host_name", "pathname": "path_name", "filepath": "file_path", "userid": "user_id",
    "orderid": "order_id", "ids": "id", "productid": "product_id", "folderid": "folder_id", "fileid": "file_id", "guid": "uuid",
    "identifier": "id", "timezone": "time_zone", "nickname": "nick_name", "email": "email", "dob": "birth_date",
}  # fmt: skip


@lru_cache(maxsize=65536)
def singular(word: str) -> str:
    """The singular of an English word in lower case; what looks singular stays."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 4 or not word.endswith("s") or word.endswith(_KEPT_S):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if word.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return word[:-2]
    if word.endswith("ves") and word[:-3] + "f" in {"shelf", "half", "wolf", "leaf", "calf"}:
        return word[:-3] + "f"
    return word[:-1]


def is_plural(word: str) -> bool:
    """True if the word has another singular."""
    return singular(word) != word
