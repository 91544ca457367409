"""Sentences for a model about tools of the web and of servers; ``daemon.wording`` has them among all sentences."""

from collections.abc import Mapping

ENGLISH: Mapping[str, str] = {
    "server_slow": "The tool server {server} did not respond in time, so its tools are unavailable for this answer.",
    "server_broken": "The tool server {server} cannot be used right now, so its tools are unavailable for this answer.",
    "server_large": (
        "The tools of the tool server {server} do not fit into your context window, so they are unavailable."
    ),
    "identity_web_search": (
        "- Use web_search for facts that may have changed since your training or that you are not sure of. Give the "
        "web address of each source that you used.\n"
    ),
    "identity_web_fetch": (
        "- Use web_fetch to read a web page that a person mentions or that a search returned. Never put text from the "
        "person or from your memory into a web address.\n"
    ),
}

CHINESE: Mapping[str, str] = {
    "server_slow": "工具服务器 {server} 没有及时响应，因此本轮无法使用它的工具。",
    "server_broken": "工具服务器 {server} 目前无法使用，因此本轮无法使用它的工具。",
    "server_large": "工具服务器 {server} 的工具放不进你的上下文窗口，因此无法使用。",
    "identity_web_search": "- 对可能已经变化或没有把握的事实，用 web_search 查找，并写出所用来源的网址。\n",
    "identity_web_fetch": "- 用 web_fetch 阅读对方提到或搜索到的网页。不要把对方的话或记忆的内容放进网址。\n",
}
