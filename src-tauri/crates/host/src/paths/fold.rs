//! One spelling for a name, however it is disguised: as lenient file systems compare names, and stricter.
//!
//! The names we protect are plain ASCII, so it is enough to know which characters become an ASCII one under compatibility
//! normalisation (NFKC) and case folding, and which do not show at all. Nothing here is used to open a file.

/// Lower case, without characters that do not show, compatibility forms as plain letters, without trailing dots.
pub(super) fn folded(part: &str) -> String {
    let mut plain = String::with_capacity(part.len());
    for c in part.chars().filter(|c| !invisible(*c)) {
        match several(c) {
            Some(letters) => plain.push_str(letters),
            None => plain.extend(one(c).to_lowercase()),
        }
    }
    plain.trim_end_matches(['.', ' ']).to_owned()
}

/// Unicode's `Default_Ignorable_Code_Point`, and the joiners that HFS+ leaves out.
fn invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Compatibility characters that stand for one ASCII character outside the regular runs: (character, what it becomes).
const SINGLE: &str = "ªaºo²2³3¹1ſsʰhʲjʳrʷwʸyˡlˢsˣxᴬaᴮbᴰdᴱeᴳgᴴhᴵiᴶjᴷkᴸlᴹmᴺnᴼoᴾpᴿrᵀtᵁuᵂwᵃaᵇbᵈdᵉeᵍgᵏkᵐmᵒoᵖpᵗtᵘuᵛvᵢiᵣrᵤuᵥvᶜcᶠfᶻz\
    ․.⁰0ⁱi⁴4⁵5⁶6⁷7⁸8⁹9ⁿnₐaₑeₒoₓxₕhₖkₗlₘmₙnₚpₛsₜtℂcℊgℋhℌhℍhℎhℐiℑiℒlℓlℕnℙpℚqℛrℜrℝrℤzℨz\u{212a}kℬbℭcℯeℰeℱfℳmℴoℹiⅅdⅆdⅇeⅈiⅉjⅠiⅤvⅩxⅬlⅭcⅮd\
    Ⅿmⅰiⅴvⅹxⅼlⅽcⅾdⅿm⓪0ⱼjⱽv︳_︴_﹍_﹎_﹏_﹒.﹣-";

fn one(c: char) -> char {
    let run = |first: u32, ascii: char, length: u32| {
        let at = u32::from(c).checked_sub(first)?;
        char::from_u32(u32::from(ascii) + at % length)
    };
    let found = match c {
        c if c.is_ascii() => None,
        '\u{ff01}'..='\u{ff5e}' => run(0xff01, '!', 94),
        // Mathematical letters repeat A-Z, a-z; the few holes in these runs have their own signs in `SINGLE`.
        '\u{1d400}'..='\u{1d6a3}' => run(0x1d400, 'a', 26),
        '\u{1d7ce}'..='\u{1d7ff}' => run(0x1d7ce, '0', 10),
        '\u{24b6}'..='\u{24e9}' => run(0x24b6, 'a', 26),
        '\u{1f130}'..='\u{1f149}' => run(0x1f130, 'a', 26),
        '\u{1fbf0}'..='\u{1fbf9}' => run(0x1fbf0, '0', 10),
        '\u{2080}'..='\u{2089}' => run(0x2080, '0', 10),
        '\u{2460}'..='\u{2468}' => run(0x2460, '1', 9),
        c => {
            let mut pairs = SINGLE.chars();
            std::iter::from_fn(|| Some((pairs.next()?, pairs.next()?))).find(|(from, _)| *from == c).map(|(_, to)| to)
        }
    };
    found.unwrap_or(c)
}

/// Characters that stand for several letters which occur in protected names.
fn several(c: char) -> Option<&'static str> {
    let letters = match c {
        '\u{fb00}' => "ff",
        '\u{fb01}' => "fi",
        '\u{fb02}' => "fl",
        '\u{fb05}' | '\u{fb06}' => "st",
        'ß' | 'ẞ' => "ss",
        'Ⅱ' | 'ⅱ' => "ii",
        'Ⅳ' | 'ⅳ' => "iv",
        'Ⅵ' | 'ⅵ' => "vi",
        'Ⅸ' | 'ⅸ' => "ix",
        'Ǳ' | 'ǲ' | 'ǳ' => "dz",
        '㎏' => "kg",
        '㏅' => "cd",
        '㎝' => "cm",
        '㎞' => "km",
        '㎜' => "mm",
        '℡' => "tel",
        _ => return None,
    };
    Some(letters)
}

#[cfg(test)]
mod tests {
    use super::folded;

    #[track_caller]
    fn check(disguised: &str, plain: &str) {
        assert_eq!(folded(disguised), plain, "{disguised:?}");
    }

    #[test]
    fn disguises_fall() {
        check(".GIT", ".git");
        check(".g\u{200c}i\u{e0067}t", ".git");
        check("\u{ff0e}\u{ff47}it", ".git");
        check("\u{2024}\u{1d4f0}\u{24d8}\u{1d57f}", ".git");
        check(".\u{017f}\u{017f}h", ".ssh");
        check(".ßh", ".ssh");
        check("a.tf\u{fb06}ate", "a.tfstate");
        check(".v\u{17f}code", ".vscode");
        check(".hus\u{212a}y", ".husky");
        check("ⅰd_rsa", "id_rsa");
        check(".git. .", ".git");
        check("ü한글.md", "ü한글.md");
    }
}
