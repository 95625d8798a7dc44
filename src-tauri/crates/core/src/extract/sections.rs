//! What a heading or a label announces, in the wordings and languages people use.
//!
//! A lexicon of patterns per kind of section, tried in a fixed order. Deliberately absent: what is done with a section's
//! content, see `criteria`.

use super::text::{is_emoji, word_count};
use regex::Regex;
use std::sync::LazyLock;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Section {
    /// What must hold at the end, said as such.
    Acceptance,
    /// What should happen; stands in for acceptance where none is given.
    Expected,
    Constraint,
    /// Named so that nobody does it.
    Excluded,
    Steps,
    Actual,
    Environment,
    Alternative,
    /// How it might be done, where, why it fails.
    Plan,
    /// How to try it.
    Check,
    Context,
    None,
}

struct Lexicon {
    section: Section,
    anywhere: Regex,
    at_start: Regex,
    wide: Regex,
}

/// `latin` and `wide` (scripts without reliable word boundaries) are alternatives of a regular expression.
fn lexicon(section: Section, latin: &str, wide: &str) -> Lexicon {
    let regex = |pattern: String| Regex::new(&pattern).expect("the section patterns are valid");
    Lexicon {
        section,
        anywhere: regex(format!(r"(?i)\b(?:{latin})")),
        at_start: regex(format!(r"(?i)^(?:the |our |my |some |die |der |das |les? |la |los |las |el )?(?:{latin})")),
        wide: regex(wide.to_owned()),
    }
}

static LEXICA: LazyLock<Vec<Lexicon>> = LazyLock::new(|| {
    vec![
        lexicon(
            Section::Excluded,
            r"out of (?:scope|bounds)|not in scope|non-?goals?\b|not now|not (?:part of|included|planned|yet)|later\b|won'?t (?:do|fix)|exclu(?:ded|sions?)|off[- ]limits|future work|follow-?ups?\b|nicht[- ](?:teil|ziele?|jetzt|enthalten|im umfang|bestandteil)|außerhalb|nicht-?ziele|hors[- ](?:périmètre|sujet|scope|champ)|non[- ](?:inclus|objectifs?)|fuera de|no incluye|no objetivos|fora d[eo] escopo|fuori (?:ambito|scope)|вне (?:рамок|объ)",
            r"범위 ?(?:밖|외|제외)|제외|하지 않을|비목표|나중에|対象外|スコープ外|範囲外|やらないこと|今回は(?:不要|対象)|不在范围|范围(?:之)?外|超出范围|非目标|不做|暂不|以后再",
        ),
        lexicon(
            Section::Constraint,
            r"constraints?\b|(?:ground )?rules?\b|restrictions?\b|limitations?\b|careful|caution|caveats?\b|watch out|please mind\b|warnings?\b|attention\b|important\b|must not$|must stay$|(?:please )?(?:do not|don'?t)(?: (?:do|touch|change|break))?(?: this| it| these)?$|never$|no-?gos?\b|guard ?-?rails?|boundar(?:y|ies)|invariants?\b|compatibility|unchanged|keep(?: as is)?$|what (?:must|has to|should) (?:stay|not|remain)|hands off|things (?:to (?:avoid|keep)|not to)|non-?functional|einschränkung|randbedingung|rahmenbedingung|bedingungen|achtung|vorsicht|wichtig\b|nicht (?:ändern|anfassen)|vorgaben|bitte (?:nicht|beachten)|zu beachten|contraintes?\b|à ne pas|à respecter|interdi|important\b|restricciones|cuidado|no (?:tocar|hacer)|limitaciones|restrições|cuidados|vincoli|attenzione|ограничени|важно|внимание",
            r"주의|제약|제한|금지|하지 ?말|유의|지켜야|조건부|注意|制約|禁止|制限|してはいけない|やらないで|守る|约束|限制|请勿|不要|约定",
        ),
        lexicon(
            Section::Steps,
            r"steps?(?: to \w+)?\b|(?:how )?to (?:reproduce|recreate|trigger|see (?:it|this))|repro(?:duc\w*)?\b|recreate|schritte|reproduz\w*|reproduktion|nachstellen|vorgehen|étapes|reprodu\w*|pour reproduire|pasos|cómo reproducir|passos|passi\b|riprodu\w*|шаги|воспроизв",
            r"재현|순서|절차|再現|手順|复现|重现|步骤|重現|步驟",
        ),
        lexicon(
            Section::Acceptance,
            r"acceptance|accept(?:ed)? (?:when|if)|definition of done|dod\b|(?:we(?:'re| are)|it(?:'s| is)|this is)? ?(?:done|finished|ready|complete|good) (?:when|if|once|means)|done\b|(?:success|exit|completion) criteria|criteria\b|requirements?\b|required\b|must[- ]haves?|what (?:i|we)(?:'d| would)? (?:need|want|like)|(?:i|we)(?:'d| would)? (?:want|need|like)\b|wanted\b|wants?\b|what counts|what done (?:looks like|means)|checklist|deliverables?|to[- ]?dos?\b|tasks?\b|scope\b|in scope|goals?\b|objectives?\b|akzeptanz\w*|abnahme\w*|fertig,? wenn|erledigt,? wenn|anforderung\w*|aufgaben\b|ziele?\b|gewünscht\w*|crit[èe]res?|définition (?:de|du) |exigences|à faire|terminé (?:quand|lorsque|si)|objectifs?\b|criterios|requisitos|definición de |tareas\b|(?:hecho|listo|terminado) cuando|objetivos?\b|critérios|tarefas|criteri\b|requisiti|критери|требовани|готово|задач",
            r"완료 ?(?:조건|기준|정의|요건)|인수 ?(?:조건|기준)|수용 ?(?:조건|기준)|수락 ?(?:조건|기준)|승인 ?(?:조건|기준)|요구 ?(?:사항|조건)|필요 ?(?:사항|조건)|할 ?일|체크 ?리스트|검수|작업 ?(?:내용|목록|항목)|목표|受け?入れ?|完了(?:条件|の定義|基準)|要件|要求|合格|やること|達成|ゴール|タスク|目標|验收|驗收|完成(?:标准|条件|定义|的标准)|接受(?:标准|条件)|需求|待办|达成|目标|任务|清单",
        ),
        lexicon(
            Section::Expected,
            r"expect\w*|what (?:i|we|you|did you) expect\w*|what should (?:happen|be)|desired|should(?: be| see| happen)?\b|intended|describe the solution|(?:the )?solution (?:you'?d like|wanted)|correct behaviou?r|erwart\w*|soll\b|soll-?(?:verhalten|zustand)|sollte\b|(?:comportement|résultat)s? attendus?|attendus?\b|souhait\w*|(?:comportamiento|resultado)s? (?:esperado|deseado)|esperad\w*|desead\w*|comportamento esperado|risultato atteso|attes[oi]|ожида\w*",
            r"기대|예상 ?(?:동작|결과)|원하는|희망|바라는|정상 ?동작|期待|あるべき|望ましい|想定|期望|预期|預期",
        ),
        lexicon(
            Section::Alternative,
            r"(?:describe )?alternatives?\b|considered|workarounds?\b|alternativen?\b|umgehung|contournement|alternativas?\b",
            r"대안|우회|代替|回避策|替代|备选|其他方案",
        ),
        lexicon(
            Section::Environment,
            r"environment|versions?\b|systems?\b|system info|platforms?\b|os\b|operating system|devices?\b|browsers?\b|umgebung|environnement|entorno|ambiente|окружение|версия",
            r"환경|버전|環境|バージョン|环境|版本",
        ),
        lexicon(
            Section::Actual,
            r"actual\w*|current(?:ly)?\b|what (?:happens|happened|goes wrong|is wrong|you see)|observed|got\b|symptoms?\b|errors?\b|logs?\b|output\b|stack ?trace|traceback|backtrace|console\b|tatsächlich\w*|ist-?(?:verhalten|zustand)|aktuell\w*|beobacht\w*|fehler\w*|obtenu|constaté|observé|erreur|obtenido|observado|фактическ|ошибка",
            r"현상|실제|현재|증상|오류|에러|로그|現象|実際|現状|エラー|ログ|症状|实际|现象|当前|现状|错误|报错|日志",
        ),
        lexicon(
            Section::Check,
            r"how to (?:check|test|verify|try|run|build)|run\b|build\b|usage\b|verif\w*|tests?\b|testing|test plan|commands?\b|validation|checks?\b|(?:über)?prüf\w*|vérif\w*|verific\w*|comprobación|проверк",
            r"확인 ?방법|로컬 확인|검증|테스트|확인|検証|確認|テスト|验证|测试|驗證",
        ),
        lexicon(
            Section::Plan,
            r"implementation|notes?\b|plan\b|approach|possible (?:fix|solution|cause)|proposed|proposal|hints?\b|suggest\w*|design\b|where\b|location|(?:root )?cause|analysis|umsetzung|ursache|vorschlag|hinweise?\b|lösung\w*|piste|implémentation|remarques?|implementación|causa\b|notas?\b|comments?\b|kommentare?\b",
            r"원인|구현|힌트|위치|참고|메모|해결|원인|原因|実装|方針|補足|備考|メモ|实现|分析|提示|备注|说明|建议",
        ),
        lexicon(
            Section::Context,
            r"descri\w*|summary|background|context|motivation|problem\w*|why\b|user stor(?:y|ies)|overview|about\b|anything else|additional|details?\b|is your feature request|beschreibung|hintergrund|zusammenfassung|contexte|contexto|resumen|problème|описание",
            r"설명|배경|개요|요약|문제|내용|概要|背景|説明|問題|課題|描述|摘要|问题",
        ),
    ]
});

/// The section that a heading opens. A long heading that only mentions a cue is a heading like any other.
pub(super) fn of_heading(heading: &str) -> Section {
    let label = plain(heading);
    let length = label.chars().count();
    for lexicon in LEXICA.iter() {
        let hit = lexicon.anywhere.find(&label).or_else(|| lexicon.wide.find(&label));
        let Some(hit) = hit else { continue };
        let share = hit.as_str().chars().count() * 100 / length.max(1);
        let short = word_count(&label) <= 4 || (lexicon.wide.is_match(&label) && length <= 14);
        if share >= 60 || (short && share >= 18) || (hit.start() == 0 && share >= 30) {
            return lexicon.section;
        }
    }
    Section::None
}

/// The section that a label such as `Expected:` opens; stricter than for headings, since prose has colons too.
pub(super) fn of_label(label: &str) -> Section {
    let label = plain(label);
    if label.chars().count() > 48 || word_count(&label) > 7 {
        return Section::None;
    }
    for lexicon in LEXICA.iter() {
        let hit = lexicon.at_start.find(&label);
        let starts = hit.is_some_and(|hit| word_count(&label) <= 3 || hit.len() * 100 / label.len().max(1) >= 40);
        let wide = lexicon.wide.find(&label).is_some_and(|hit| hit.len() * 100 / label.len().max(1) >= 30);
        if starts || wide {
            return lexicon.section;
        }
    }
    Section::None
}

/// Whether the text is nothing but the name of a section ("Acceptance criteria", "Umgebung").
pub(super) fn is_section_name(text: &str) -> bool {
    let label = plain(text);
    let length = label.chars().count();
    word_count(&label) <= 5
        && length > 0
        && LEXICA.iter().any(|lexicon| {
            let hit = lexicon.at_start.find(&label).or_else(|| lexicon.wide.find(&label));
            hit.is_some_and(|hit| hit.as_str().chars().count() * 100 / length >= 45)
        })
}

/// Without emoji, emphasis, numbering and the colon.
fn plain(label: &str) -> String {
    let bare: String = label.chars().filter(|c| !is_emoji(*c) && !matches!(c, '*' | '_' | '`' | '#')).collect();
    let bare = bare.trim().trim_end_matches([':', '：', '?', '？', '.', ' ']);
    let bare =
        bare.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ')' | ' ' | '[' | '【' | '■' | '●'));
    bare.trim_end_matches([']', '】']).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(heading: &str, expected: Section) {
        assert_eq!(of_heading(heading), expected, "{heading:?}");
    }

    #[test]
    fn knows_what_headings_announce() {
        check("Acceptance Criteria", Section::Acceptance);
        check("✅ Definition of done", Section::Acceptance);
        check("2. 완료 조건", Section::Acceptance);
        check("Akzeptanzkriterien", Section::Acceptance);
        check("受け入れ条件", Section::Acceptance);
        check("验收标准", Section::Acceptance);
        check("Critères d'acceptation", Section::Acceptance);
        check("Criterios de aceptación", Section::Acceptance);
        check("Expected behaviour", Section::Expected);
        check("What should happen?", Section::Expected);
        check("期待される動作", Section::Expected);
        check("Steps to reproduce", Section::Steps);
        check("재현 방법", Section::Steps);
        check("Out of scope", Section::Excluded);
        check("⚠️ Careful", Section::Constraint);
        check("주의", Section::Constraint);
        check("What happens", Section::Actual);
        check("Umgebung", Section::Environment);
        check("Crash while the config file of a tenant is reloaded", Section::None);
        check("Ship it", Section::None);
    }
}
