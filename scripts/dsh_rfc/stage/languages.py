# ruff: noqa: RUF001, E501 - Chinese punctuation is what Chinese text has, and its letters count as two
"""The languages of the site and every word that staging writes.

Owns the closed set of languages and their words, so that a third one is one more entry here. Refuses to translate
documents: people do.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Language:
    """A language that the site is published in.

    Attributes:
        tag: As in `lang`, and as in the name of a counterpart (`page.zh.md`).
        name: What its readers call it.
        prefix: Where its pages stand below the site, with a slash at the end; empty for the first language.
        words: What staging writes, by key.
    """

    tag: str
    name: str
    prefix: str
    words: Mapping[str, str]

    def say(self, key: str, **values: str) -> str:
        """Return a text with its values filled in."""
        return self.words[key].format(**values)


ENGLISH = Language(
    tag="en",
    name="English",
    prefix="",
    words={
        "home": "Home",
        "guides": "Guides",
        "record": "Design record",
        "reference": "Reference",
        "api": "API",
        "rules": "Rules",
        "command_line": "Command line",
        "contributing": "Contributing",
        "more": "More",
        "contract": "The contract",
        "proposed": "proposed",
        "implemented": "implemented",
        "rejected": "rejected",
        "feature": "feature",
        "bug-fix": "bug-fix",
        "simplification": "simplification",
        "architecture": "architecture",
        "process": "process",
        "testing": "testing",
        "title": "Title",
        "status": "Status",
        "class": "Class",
        "year": "Year",
        "first_proposed": "First proposed",
        "last_changed": "Last change",
        "explorer_title": "RFC explorer",
        "explorer_lead": (
            "Every decision of this repository and every proposal: {count} RFCs. What an RFC looks like and when to "
            'write one is in [the contract]({contract}). New and changed ones are in the <a href="feed.xml">Atom '
            'feed</a>; all of them are in <a href="index.json">index.json</a>, which has a '
            '<a href="index.schema.json">schema</a>.'
        ),
        "filter_text": "Text",
        "filter_any": "any",
        "filter_reset": "Reset",
        "filter_shown": "{{shown}} of {{all}} RFCs",
        "filter_label": "Filter the RFCs",
        "unknown": "unknown",
        "counterpart": "中文",
        "facts": "About this RFC",
        "references": "Referenced by",
        "no_references": "No other page of this site refers to this RFC.",
        "neighbours": "In the same class",
        "earlier": "Earlier",
        "later": "Later",
        "other_title": "Only in Chinese so far",
        "other_text": "This page has no English counterpart yet; the Chinese text follows.",
        "feed_title": "{site}: RFCs",
        "reference_lead": "What there is to look up, generated from the code unless the page says otherwise.",
        "rules_title": "Rules",
        "rules_lead": (
            "What `dsh-rfc check` can find. Each finding is printed with the code of its rule, and `dsh-rfc explain "
            "CODE` prints the page."
        ),
        "rule": "Rule",
        "rule_summary": "What it asks for",
        "command_title": "The command dsh-rfc",
        "api_title": "API",
        "api_lead": "The Python packages, read from their source without importing them.",
        "package": "Package",
        "module": "Module",
        "owns": "Summary",
        "modules": "Modules",
        "names": "What it exports",
        "name": "Name",
        "defined_in": "Defined in",
        "source_of": "Source: [{path}]({url})",
    },
)

CHINESE = Language(
    tag="zh",
    name="中文",
    prefix="zh/",
    words={
        "home": "首页",
        "guides": "指南",
        "record": "设计记录",
        "reference": "参考",
        "api": "API",
        "rules": "规则",
        "command_line": "命令行",
        "contributing": "参与贡献",
        "more": "其他",
        "contract": "RFC 契约",
        "proposed": "提议中",
        "implemented": "已实现",
        "rejected": "已否决",
        "feature": "功能",
        "bug-fix": "缺陷修复",
        "simplification": "简化",
        "architecture": "架构",
        "process": "流程",
        "testing": "测试",
        "title": "标题",
        "status": "状态",
        "class": "类别",
        "year": "年份",
        "first_proposed": "首次提出",
        "last_changed": "最近修改",
        "explorer_title": "RFC 总览",
        "explorer_lead": (
            "本仓库的全部决策与提案，共 {count} 篇 RFC。RFC 的写法以及何时该写，见 [RFC 契约]({contract})。"
            '新增与修改可通过 <a href="feed.xml">Atom 订阅</a>获取；完整清单见 <a href="index.json">index.json</a>，'
            '其格式由 <a href="index.schema.json">schema</a> 描述。'
        ),
        "filter_text": "文字",
        "filter_any": "不限",
        "filter_reset": "重置",
        "filter_shown": "显示 {{shown}} 篇，共 {{all}} 篇",
        "filter_label": "筛选 RFC",
        "unknown": "未知",
        "counterpart": "English",
        "facts": "关于这篇 RFC",
        "references": "被引用于",
        "no_references": "本站没有其他页面引用这篇 RFC。",
        "neighbours": "同类 RFC",
        "earlier": "较早",
        "later": "较晚",
        "other_title": "本页尚无中文版",
        "other_text": "以下是英文原文。",
        "feed_title": "{site}：RFC",
        "reference_lead": "可供查阅的内容；除另有说明外，均由代码生成。",
        "rules_title": "规则",
        "rules_lead": "`dsh-rfc check` 能发现的问题。每条结果都带有规则代码，`dsh-rfc explain CODE` 会打印对应页面。",
        "rule": "规则",
        "rule_summary": "要求",
        "command_title": "命令 dsh-rfc",
        "api_title": "API",
        "api_lead": "各 Python 包的接口，直接读取源码生成，不执行导入。",
        "package": "包",
        "module": "模块",
        "owns": "说明",
        "modules": "模块",
        "names": "导出的名称",
        "name": "名称",
        "defined_in": "定义于",
        "source_of": "源码：[{path}]({url})",
    },
)

LANGUAGES: tuple[Language, ...] = (ENGLISH, CHINESE)
