//! The natural language of a task's prose, by script and stop words; code, paths and logs do not count.

use super::blocks::{Block, Shape};
use super::files;
use super::text::{is_han, is_hangul, is_kana, masked, prose_of};

/// Stop words that tell the languages of the Latin script apart.
const STOP_WORDS: [(&str, &[&str]); 9] = [
    (
        "en",
        &[
            "the", "is", "and", "to", "of", "in", "it", "that", "for", "with", "not", "when", "be", "are", "this",
            "as", "on", "should", "but", "does", "no", "a", "an", "has", "from", "by", "after", "must", "we", "i",
        ],
    ),
    (
        "de",
        &[
            "der", "die", "das", "und", "ist", "nicht", "ein", "eine", "einer", "wird", "werden", "mit", "für", "auf",
            "den", "im", "dem", "zu", "bei", "wenn", "sich", "auch", "von", "aus", "soll", "bitte", "keine", "es",
            "aber", "nach", "beim",
        ],
    ),
    (
        "fr",
        &[
            "le", "la", "les", "des", "est", "une", "un", "et", "pas", "que", "qui", "dans", "pour", "sur", "avec",
            "du", "au", "ne", "doit", "il", "elle", "sont", "être", "mais", "lors", "quand", "aux", "ce", "cette",
            "en",
        ],
    ),
    (
        "es",
        &[
            "el", "la", "los", "las", "es", "una", "un", "y", "no", "que", "en", "para", "con", "por", "del", "se",
            "al", "cuando", "debe", "pero", "está", "como", "ser", "sin", "lo", "este", "esta", "hay",
        ],
    ),
    (
        "pt",
        &[
            "o", "os", "as", "uma", "um", "não", "que", "em", "para", "com", "por", "do", "da", "dos", "das", "se",
            "quando", "deve", "mas", "está", "ser", "ao", "na", "no", "é", "são",
        ],
    ),
    (
        "it",
        &[
            "il", "lo", "gli", "una", "un", "non", "che", "di", "per", "con", "del", "della", "si", "quando", "deve",
            "ma", "è", "essere", "sono", "nel", "alla", "dei", "le",
        ],
    ),
    (
        "nl",
        &[
            "de", "het", "een", "en", "is", "niet", "van", "voor", "met", "op", "dat", "wordt", "als", "bij", "naar",
            "maar", "moet", "zijn", "deze", "geen", "aan",
        ],
    ),
    (
        "pl",
        &[
            "nie", "jest", "się", "na", "do", "że", "jak", "przy", "dla", "oraz", "gdy", "po", "tylko", "być", "ale",
            "są", "przez",
        ],
    ),
    (
        "sv",
        &[
            "och", "att", "det", "som", "är", "inte", "en", "ett", "för", "med", "på", "när", "av", "den", "ska",
            "till", "från", "om",
        ],
    ),
];

/// BCP 47 primary tag, "ko-en" for Korean with much English in it, "und" when there is no prose.
pub(super) fn language(text: &str, blocks: &[Block], title: &str) -> String {
    let readable = files::without_urls(text);
    let readable = masked(&readable, &files::spans(&readable));
    let mut prose = String::new();
    for block in blocks {
        match block.shape {
            Shape::Heading(_) | Shape::Paragraph | Shape::Item { .. } | Shape::Row | Shape::Quote => {
                prose.push_str(&prose_of(&readable, block.span));
                prose.push('\n');
            }
            Shape::Code { .. } | Shape::Log => {}
        }
    }
    prose.push_str(title);
    of_prose(&prose)
}

fn of_prose(prose: &str) -> String {
    let count = |is: fn(char) -> bool| prose.chars().filter(|c| is(*c)).count();
    let (hangul, kana, han) = (count(is_hangul), count(is_kana), count(is_han));
    let words: Vec<String> = prose
        .split(|c: char| !c.is_alphabetic() && c != '\'')
        .filter(|word| word.chars().count() > 1 || !word.is_ascii())
        .map(str::to_lowercase)
        .collect();
    let latin_letters = prose.chars().filter(|c| c.is_alphabetic() && u32::from(*c) < 0x250).count();
    if hangul + kana + han + latin_letters == 0 {
        return other_script(prose).unwrap_or("und").to_owned();
    }
    let cjk = hangul + kana + han;
    if hangul > kana && hangul * 2 > han && hangul * 8 > latin_letters {
        let korean = prose.split_whitespace().filter(|word| word.chars().any(is_hangul)).count();
        let english =
            words.iter().filter(|word| word.len() > 1 && word.bytes().all(|b| b.is_ascii_alphabetic())).count();
        return if english * 10 >= (english + korean) * 3 { "ko-en" } else { "ko" }.to_owned();
    }
    if cjk * 6 > latin_letters {
        return if kana * 20 > han { "ja" } else { "zh" }.to_owned();
    }
    if let Some(tag) = other_script(prose) {
        return tag.to_owned();
    }
    latin(&words).to_owned()
}

fn latin(words: &[String]) -> &'static str {
    let mut best = ("en", 0);
    for (tag, stops) in STOP_WORDS {
        let score = words.iter().filter(|word| stops.contains(&word.as_str())).count();
        if score > best.1 {
            best = (tag, score);
        }
    }
    best.0
}

/// A language tag and its letters.
type Script = (&'static str, fn(char) -> bool);

/// A script that has one main language among programmers; `None` when Latin or CJK letters prevail.
fn other_script(prose: &str) -> Option<&'static str> {
    let scripts: [Script; 7] = [
        ("ru", |c| matches!(c, '\u{400}'..='\u{4ff}')),
        ("ar", |c| matches!(c, '\u{600}'..='\u{6ff}')),
        ("he", |c| matches!(c, '\u{590}'..='\u{5ff}')),
        ("th", |c| matches!(c, '\u{e00}'..='\u{e7f}')),
        ("el", |c| matches!(c, '\u{370}'..='\u{3ff}')),
        ("hi", |c| matches!(c, '\u{900}'..='\u{97f}')),
        ("ka", |c| matches!(c, '\u{10a0}'..='\u{10ff}')),
    ];
    let latin = prose.chars().filter(|c| c.is_ascii_alphabetic()).count();
    let (tag, count) = scripts
        .into_iter()
        .map(|(tag, is)| (tag, prose.chars().filter(|c| is(*c)).count()))
        .max_by_key(|(_, count)| *count)?;
    let ukrainian = tag == "ru" && prose.chars().any(|c| matches!(c, 'і' | 'ї' | 'є' | 'ґ'));
    (count > latin / 2 && count > 0).then_some(if ukrainian { "uk" } else { tag })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(prose: &str, expected: &str) {
        assert_eq!(of_prose(prose), expected, "{prose:?}");
    }

    #[test]
    fn tells_languages_by_script_and_stop_words() {
        check("", "und");
        check("12 + 3 = 15", "und");
        check("The export stops when the list is empty", "en");
        check("Beim Speichern wird die Datei nicht geschlossen", "de");
        check("Le fichier n'est pas fermé quand la liste est vide", "fr");
        check("El archivo no se cierra cuando la lista está vacía", "es");
        check("저장하면 파일이 닫히지 않습니다", "ko");
        check("user 가 logout 하면 session token 이 cache 에 남아 있음", "ko-en");
        check("保存するとファイルが閉じられません", "ja");
        check("保存之后文件没有关闭，列表为空", "zh");
        check("Файл не закрывается после сохранения", "ru");
    }
}
