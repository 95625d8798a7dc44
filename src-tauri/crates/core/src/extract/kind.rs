//! The kind of task: what it says itself, then weighted cues of the title, the headings and the body.

use super::blocks::{Block, Shape};
use super::criteria;
use super::front_matter::Meta;
use super::sections::Section;
use super::text::{prose_of, slice};
use super::trace::Frame;
use crate::brief::TaskKind;
use regex::Regex;
use std::sync::LazyLock;

struct Words {
    kind: TaskKind,
    weight: i32,
    title: bool,
    body: bool,
    pattern: Regex,
}

fn words(kind: TaskKind, weight: i32, reach: &str, pattern: &str) -> Words {
    Words {
        kind,
        weight,
        title: reach.contains('t'),
        body: reach.contains('b'),
        pattern: Regex::new(&format!("(?i){pattern}")).expect("the kind patterns are valid"),
    }
}

/// What labels, types and prefixes are called.
static NAMED: LazyLock<Vec<(TaskKind, Regex)>> = LazyLock::new(|| {
    let named = |pattern: &str| Regex::new(&format!("(?i){pattern}")).expect("valid");
    vec![
        (
            TaskKind::Bug,
            named(
                r"\b(?:bug(?:fix)?|defect|fix|hotfix|incident|regression|crash|fehler|erreur|error|problem)\b|버그|오류|バグ|不具合|缺陷|错误",
            ),
        ),
        (TaskKind::Docs, named(r"\b(?:docs?|documentation|doku|dokumentation)\b|문서|ドキュメント|文档")),
        (TaskKind::Test, named(r"\b(?:tests?|testing|coverage)\b|테스트|テスト|测试")),
        (
            TaskKind::Refactor,
            named(
                r"\b(?:refactor(?:ing)?|clean-?up|tech(?:nical)?[- ]?debt|restructure)\b|리팩(?:토|터)|リファクタ|重构",
            ),
        ),
        (
            TaskKind::Question,
            named(r"\b(?:question|support|help wanted\?|discussion|frage|pregunta)\b|질문|質問|提问|咨询"),
        ),
        (
            TaskKind::Chore,
            named(r"\b(?:chore|build|ci|deps|dependenc(?:y|ies)|maintenance|release|housekeeping)\b|잡무|雑務"),
        ),
        (
            TaskKind::Feature,
            named(
                r"\b(?:feature|feat|enhancement|improvement|story|epic|new feature|perf(?:ormance)?|wunsch|request|proposal)\b|기능|개선|機能|要望|改善|功能|需求|新特性",
            ),
        ),
    ]
});

static WORDS: LazyLock<Vec<Words>> = LazyLock::new(|| {
    use TaskKind::*;
    vec![
        words(
            Bug,
            6,
            "t",
            r"\b(?:panics?|crash\w*|hangs?|deadlocks?|fails?|failing|failure|broken|breaks?|bugs?|wrong(?:ly)?|incorrect\w*|no longer|not working|(?:does|do|is|are|was) ?(?:not|n't)|doesn'?t|don'?t work|isn'?t|can ?not|can'?t|never|lost|loses?|dropped|drops|missing|errors?|exceptions?|\w+Error|\w+Exception|leaks?|duplicated?|twice|corrupt\w*|garbled|mojibake|stuck|freez\w*|dies|regression|race|off by one|ignored|ignores|overwrit\w+|truncat\w+|flaky|segfaults?|overflow\w*|out of (?:memory|bounds)|unexpected\w*|stale|swallow\w*|infinite|blank)\b",
        ),
        words(
            Bug,
            6,
            "t",
            r"\b(?:kaputt|fehler\w*|falsch\w*|abgeschnitten|verloren|stürzt|absturz\w*|hängt|bricht|fehlt|funktioniert nicht|geht nicht|gehen\b.*verloren|plant\w*|erreur|incorrect\w*|perdu\w*|échoue|cassé\w*|ne (?:marche|fonctionne)|fuite|falla|fallo|error|rot[oa]|incorrect\w*|pierde\w*|no funciona|se cuelga|duplicad\w+|ошибк\w*|падает|не работает|теряет\w*)\b|깨(?:지|집|짐)|오류|버그|에러|안 ?(?:됩|되|돼|됨)|되지 ?않|실패|누락|멈(?:추|춤|춥)|중복|사라|잘못|틀(?:린|리)|않습니다|않는|バグ|不具合|エラー|落ちる|失敗|できない|されない|ない$|ません|消え|おかし|誤|ずれ|壊れ|文字化け|止ま|错误|崩溃|失败|不能|无法|丢失|异常|乱码|不正确|没有(?:生效|反应)|卡死|重复|报错|失效",
        ),
        words(
            Bug,
            3,
            "b",
            r"\btraceback\b|\bpanicked at\b|\bfatal error\b|\bstack ?trace\b|\b(?:crash|hang|fail|break)(?:s|es|ed)\b|\bregression\b|\bused to work\b|\bis wrong\b|\bare wrong\b|깨집니다|오류가|재현|再現|复现|重现|\bbug\b|\binstead of\b|\bnever (?:removed|closed|freed|released|called|makes?)\b",
        ),
        words(
            Refactor,
            9,
            "t",
            r"\b(?:refactor\w*|restructure|clean-?up|clean up|tidy|split|extract|de-?duplicate|consolidate|simplify|rename|move|decouple|untangle|unify|inline|merge .* into|get rid of|migrate|replace|reorgani[sz]e|easier to (?:read|follow|understand|maintain)|more readable|readability|duplicated code|copy of|god class|dead code|aufräumen|aufteilen|umbenennen|refaktor\w*|zusammenführen|nettoyer|découper|scinder|renommer|limpiar|dividir|separar|renombrar|рефактор\w*|разбить|вынести)\b|리팩(?:토|터)|분리|정리|나누|통합|リファクタ|分割|整理|切り出|共通化|重构|拆分|抽取|整理|合并",
        ),
        words(
            Refactor,
            5,
            "b",
            r"\b(?:purely mechanical|no (?:functional|behaviou?r(?:al)?) changes?|same behaviou?r|behaviou?r (?:stays|must stay|does not change)|without changing behaviou?r|no changes? in behaviou?r|has grown to|refactor\w*)\b|동작(?:은|이)? ?(?:그대로|바뀌지|변경 없)|挙動(?:は|を)?変え|行为不变|verhalten (?:bleibt|unverändert)",
        ),
        words(
            Test,
            10,
            "t",
            r"\b(?:write|add|more|missing|improve|increase|extend|create|need) (?:\w+ ){0,3}(?:tests?|coverage|test cases?|specs?)\b|^tests? (?:for|of)\b|\b(?:unit|integration|regression|property|e2e) tests? (?:for|of)\b|\btest coverage\b|\btests? schreiben|\btests? (?:für|ergänzen)|\b(?:écrire|ajouter) (?:des |les )?tests\b|\b(?:escribir|añadir|agregar) (?:las |los )?(?:pruebas|tests)\b|\bнаписать тесты|테스트 ?(?:를 |코드 ?(?:를 )?)?(?:추가|작성|보강)|(?:단위|유닛) ?테스트|テスト(?:を|の)?(?:追加|書|作成|拡充)|(?:补充|添加|编写|增加|补)\S{0,8}测试|单元测试",
        ),
        words(
            Docs,
            9,
            "t",
            r"\b(?:docs?|documentation|documents?|readme(?:\.md)?|changelog|tutorial|guide|docstrings?|man ?page|typos?|quick ?start|doku\w*|dokumentation|anleitung|documentación|manual)\b|문서|설명서|가이드|오타|ドキュメント|文書|説明書|手順書|文档|说明文档|教程",
        ),
        words(Docs, 5, "b", r"\bdocs?/[\w/.-]+\.(?:md|rst|adoc|txt)\b|\bthe (?:documentation|docs|manual|readme)\b"),
        words(
            Docs,
            7,
            "b",
            r"\bdocs only\b|\bdocumentation only\b|\bnur (?:die )?doku\w*|문서만|ドキュメントのみ|只改文档|仅文档",
        ),
        words(
            Chore,
            9,
            "t",
            r"\b(?:bump|upgrade|update|raise|pin|unpin|renovate) (?:\w+[ @/.-]*){0,4}(?:to|from|dependenc\w+|version|deps|minimum|msrv|node|python|rust|go|java|toolchain|v?\d)|\b(?:chore|ci|deps|release|dependabot|pipeline|workflow|lint(?:er|ing)?|docker ?image|msrv|toolchain|license headers?|pre-commit|github actions?)\b|\bdrop (?:support for )?(?:python|node|java|php|ruby|go)\b|\b(?:aktualisier\w*|anheben|mettre à jour|actualizar)\b|의존성|버전 ?(?:업|올리|올려)|업그레이드|빌드|依存|バージョンアップ|アップグレード|更新する|升级|依赖|构建",
        ),
        words(
            Question,
            13,
            "t",
            r"^(?:how|why|what|where|which|is it|is there|are there|can i|can we|could i|does|do we|should (?:i|we)|wie|warum|wieso|was|kann man|comment|pourquoi|est-ce|cómo|por qué|¿)\b.*\?\s*$|(?:인가요|나요|할까요|습니까|ですか|でしょうか|吗|呢)[?？]?\s*$|^question\b|^frage\b|질문",
        ),
        words(
            Feature,
            6,
            "t",
            r"\b(?:add|support|allow|implement|introduce|provide|enable|honou?r|warn|offer|let|make it possible|option|new|expose|show|export|import|feature|request|configurable|speed ?up|faster|improve|cache|respect|accept|ability|create|extend|integrate|dark mode|hinzufügen|unterstütz\w*|ermöglich\w*|einführen|neue[rs]?|erweiter\w*|ajouter|permettre|prendre en charge|nouvelle?|añadir|agregar|permitir|soportar|nuev[oa]|добавить|поддерж\w+)\b|추가|지원|요청|구현|도입|만들|가능하게|있도록|追加|対応|実装|サポート|導入|できるように|新規|添加|增加|新增|支持|实现|希望能|允许",
        ),
        words(
            Feature,
            3,
            "b",
            r"\bas an? [\w -]{2,40},? i (?:want|need|would)|\b(?:it would be (?:nice|great|useful)|would like to be able|feature request|there is no way to|currently there is no|at the moment there is no)\b|\bals? \w+ möchte ich|\bis your feature request\b|요청입니다|필요합니다|있으면 좋겠|してほしい|できるようにしたい|希望(?:能|可以|支持)",
        ),
    ]
});

static PREFIX: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\W*(?:[\[【(](?P<tag>[^\]】)]{2,24})[\]】)]|(?P<word>[A-Za-z가-힣]{2,12})(?:\([^)]*\))?!?:)")
        .expect("valid")
});

pub(super) fn kind(text: &str, blocks: &[Block], frames: &[Frame], meta: &Meta, title: &str) -> TaskKind {
    if let Some(kind) = meta.kinds.iter().find_map(|kind| named(kind)) {
        return kind;
    }
    let prefix = PREFIX.captures(title).and_then(|found| found.name("tag").or_else(|| found.name("word")));
    if let Some(kind) = prefix.and_then(|prefix| named(prefix.as_str())) {
        return kind;
    }
    if title.is_empty() && blocks.is_empty() {
        return TaskKind::Question;
    }
    let mut scores = [0; 7];
    let mut score = |kind: TaskKind, weight: i32| {
        if let Some(place) = TaskKind::ALL.iter().position(|other| *other == kind).and_then(|at| scores.get_mut(at)) {
            *place += weight;
        }
    };
    let prose: String = blocks
        .iter()
        .filter(|b| matches!(b.shape, Shape::Paragraph | Shape::Item { .. }))
        .map(|b| prose_of(text, b.span) + "\n")
        .collect();
    let bare_title = prose_of(title, crate::code::Span::new(0, title.len()));
    for words in WORDS.iter() {
        if words.title && words.pattern.is_match(&bare_title) {
            score(words.kind, words.weight);
        }
        if words.body && words.pattern.is_match(&prose) {
            score(words.kind, words.weight);
        }
    }
    if !frames.is_empty() {
        score(TaskKind::Bug, 4);
    }
    for section in [Section::Steps, Section::Actual, Section::Expected] {
        if blocks.iter().any(|block| block.section == section) {
            score(TaskKind::Bug, if section == Section::Expected { 1 } else { 2 });
        }
    }
    let headings = blocks.iter().filter(|b| matches!(b.shape, Shape::Heading(_))).map(|b| slice(text, b.span));
    if headings.clone().any(|heading| heading.contains('🐛') || heading.contains('🐞')) {
        score(TaskKind::Bug, 4);
    }
    // An order names what is to be built; a statement tells what is wrong.
    let ordered = criteria::is_order(&bare_title) && !bare_title.to_lowercase().starts_with("fix");
    let stated = STATEMENT.is_match(&bare_title);
    score(TaskKind::Feature, if ordered { 4 } else { 0 });
    score(TaskKind::Bug, if stated && !ordered { 3 } else { 0 });
    // A question asks for nothing to be done: any criterion speaks against it.
    let asks_only = !blocks.iter().any(|b| matches!(b.section, Section::Acceptance | Section::Expected))
        && prose.trim_end().ends_with(['?', '？']);
    score(TaskKind::Question, if asks_only { 3 } else { -4 });
    best(scores)
}

static STATEMENT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:is|are|was|gets?|has|says|returns|shows|sends|uses|makes|takes|keeps|signs?|reads|writes|too (?:often|many|much|early|late|long|few)|instead of|after|when|while|wird|werden|ist|sind|est|sont|es|está|son)\b|(?:됩니다|합니다|입니다|다)\s*$|(?:る|た|い)\s*$|(?:了|时|后)").expect("valid")
});

/// Ties go to the more common kind.
fn best(scores: [i32; 7]) -> TaskKind {
    let order = [
        TaskKind::Bug,
        TaskKind::Feature,
        TaskKind::Refactor,
        TaskKind::Test,
        TaskKind::Docs,
        TaskKind::Chore,
        TaskKind::Question,
    ];
    let of = |kind: TaskKind| {
        TaskKind::ALL.iter().position(|other| *other == kind).and_then(|at| scores.get(at)).copied().unwrap_or(0)
    };
    let top = order.into_iter().map(of).max().unwrap_or(0);
    if top <= 0 {
        return TaskKind::Feature;
    }
    order.into_iter().find(|kind| of(*kind) == top).unwrap_or(TaskKind::Feature)
}

/// The kind that a label or type names.
fn named(name: &str) -> Option<TaskKind> {
    if name == "task" || name.contains("template") {
        return None;
    }
    NAMED.iter().find(|(_, pattern)| pattern.is_match(name)).map(|(kind, _)| *kind)
}
