//! The cue words of `criteria`, in the languages that task files come in. All patterns expect lower case and text
//! without inline code.

use regex::Regex;
use std::sync::LazyLock;

fn any_of(parts: &[&str]) -> Regex {
    Regex::new(&parts.join("|")).expect("the phrase patterns are valid")
}

/// Something is forbidden or bounded.
pub(super) static FORBIDS: LazyLock<Regex> = LazyLock::new(|| {
    any_of(&[
        // English: orders
        r"(?:^|[.:;,(—–-]\s*|\b(?:please|but|and|so|also|just|however)\s+)(?:please\s+)?(?:do not|don'?t|don’t|never|avoid|refrain from|make sure not|be careful not)\s+\w",
        r"(?:^|[.:;,(—–-]\s*|\b(?:please|but|and|with|so)\s+)(?:absolutely\s+)?no\s+(?:new|additional|extra|other|further|more|external|third[- ]party|breaking|code|api|schema|public|behaviou?r\w*|changes?|dependenc\w+|migrations?|network|renam\w+|refactor\w+|need to (?:change|touch)|(?:\w+ ){1,2}(?:changes?|dependenc\w+|migrations?))\b",
        r"^no\b[^.]*\bplease\b",
        r"(?:^|[.:;]\s*|\bplease\s+)only\s+(?:add|touch|change|edit|modify|use|fix|write|(?:the|in)\b[^.]{0,40}\b(?:may|should|must|changes?|is to|are to|needs?))\b|^[\w ]{2,30}\bonly\.?$",
        r"\b(?:must|may|shall) (?:not|never)\b|\bmustn'?t\b|\b(?:should|shall) (?:not|never) (?:be )?(?:chang|touch|add|break|broken|need|requir|affect|alter|depend|modif|remov|renam|introduc|us(?:e|ing)\b|rely)\w*|\bshouldn'?t (?:be )?(?:chang|touch|add|break|need|requir|affect|alter|modif|remov|renam|introduc)\w*",
        r"\b(?:can'?t|can’t|cannot|can not) (?:be )?(?:chang|break|broken|mov|touch|assum|add|drop|renam|modif|rely|altere?|remov)\w*",
        r"\b(?:is|are|it's|that's) (?:not|no) (?:an? )?(?:option|allowed|permitted|acceptable|wanted|desired|part of this|in scope)|\bnot an option\b|\bforbidden\b|\bprohibited\b|\boff[- ]limits\b|\bout of (?:scope|bounds)\b|\bnot in scope\b|\bhands off\b",
        r"\bneeds? no changes?\b|\bno need to (?:change|touch)\b|\bnothing (?:else )?(?:has|needs|is|should) to (?:be )?(?:chang|touch)\w*|\bnothing else (?:should|may|must|changes)\b|\bwithout (?:changing|breaking|touching|adding|altering|renaming|modifying|introducing|a new|new|any)\b|\b(?:careful|sure|asked|ought|please|are|is|try) not to (?:touch|change|break|rename|modify|add)\b|\brather not (?:add|change|touch|have)\b|\bstay away from\b",
        r"\bplease (?:fix|do|solve|handle|make|keep) (?:it|this|that) (?:only )?(?:in|at|inside|within)\b|\bone commit per\b|\b(?:purely|strictly) \w+",
        // Korean
        r"(?:추가|변경|수정|삭제|사용|건드리|바꾸|도입|손대|제거|고치|포함|늘리|만들|쓰|올리|넣|깨|깨뜨리|이동|옮기|하)(?:하)?지 ?(?:는 |도 )?(?:않(?:습니다|는다|을 것|아야|도록|게|기)|말|마|못)|금지(?:$|[.)\],!]| ?(?:합니다|입니다|함|임|된|됩|한다|이다|하고))|건드리지|안 ?(?:됩니다|된다|돼)|(?:면|서는) 안|만 (?:수정|변경|추가|사용|고치)|변경 ?(?:없이|불가)|추가 ?없이|없어야 ?(?:합|한|함)|범위 ?(?:밖|외)",
        // Japanese
        r"ないでください|しないこと|ないこと$|禁止|(?:変更|追加|修正|削除|使用|導入|更新)しない(?:で|こと|方針|よう|予定|。|$)|変えない|触らない|触れない|増やさない|壊さない|使わない(?:で|こと|。|$)|てはいけ(?:ない|ません)|てはならない|てはなりません|べきではな|のみ(?:変更|修正|対象)|不可|対象外|(?:変更|追加)なし|せずに(?:お願い|修正|対応)",
        // Chinese
        r"不要|不得|禁止|请勿|切勿|勿(?:动|改|删)|不可以|不允许|不许|不应(?:该)?(?:改|修改|影响|引入|依赖|破坏|增加)|不能(?:改|变|修改|破坏|影响|引入|动|增加|删|依赖|新增|添加)|不(?:改动?|引入|新增|修改|变更|触碰)|别(?:动|改|碰|加)|只(?:改|修改|能|允许|加|动)|无需(?:改|修改|变)|不需要(?:改|修改)|不在(?:本次)?范围",
        // German
        r"\bnicht (?:(?:mehr|weiter) )?(?:(?:ge|ver|an)?(?:änder|fass)\w*|angefasst|angetastet|berühr\w*|entfern\w*|umbenenn\w*|umbenannt|brech\w*|gebrochen|verwend\w*|nutzen|hinzu\w*|erlaubt|zulässig|gewünscht|im umfang|teil (?:dieser|der))|\bkeine? (?:neue[nrs]?|weitere[nrs]?|zusätzliche[nrs]?|externe[nrs]?|änderung\w*|anpassung\w*|code\w*|api\w*|abhängigkeit\w*|umbenennung\w*|migration\w*)|\bbitte (?:nicht|kein\w*|nur)\b|\b(?:darf|dürfen|soll|sollen|sollte|sollten)\b[^.]{0,60}\b(?:nicht|keine?[nrs]?)\b[^.]{0,30}(?:änder|anfass|angefass|brech|verwend|hinzu|entfern|schreib|werden)|\b(?:darf|dürfen) (?:nicht|keine?[nrs]?|nie)\b|\bohne (?:neue|änderung|zusätzlich|die \w+ zu (?:änder|brech))|\bnur (?:die|den|das|in|an)\b[^.]{0,40}(?:änder|anpass|anfass)\w*|\btabu\b|\bverboten\b|\bfinger weg\b",
        // French
        r"\bne (?:pas|jamais) \w+|\b(?:ne|n')\s?\w+ (?:pas|rien|jamais)\b[^.]{0,30}(?:modifi|touch|chang|ajout|cass|supprim|renomm|être)\w*|\bne (?:doi(?:t|vent)|peu(?:t|vent)) (?:pas|jamais)|\b(?:merci de|prière de|veuillez) ne\b|\bn'(?:ajoute|utilise|introdui)\w* (?:pas|aucun)|\bne (?:touche|modifie|change|cass|supprim|renomm)\w* (?:pas|rien|aucun)|\b(?:pas|aucune?) (?:de )?(?:nouvelles?|nouveaux?|autres?|dépendance|changement|modification|migration)\w*|\bsans (?:modifier|changer|ajouter|toucher|casser|nouvelle|rompre|renommer)|\binterdit\w*|\buniquement\b|\bhors (?:périmètre|scope|sujet)",
        // Spanish, Portuguese, Italian
        r"\bno (?:se )?(?:toca|toque|cambi|modifi|añad|agreg|romp|elimin|renombr|introdu|uses?\b|usar\b|utili[cz])\w*|\bno (?:se )?(?:debe|deben|puede|pueden) (?:ser )?(?:toca|cambi|modifi|añad|agreg|romp|elimin|usar|fallar)\w*|\bsin (?:cambiar|modificar|romper|añadir|agregar|tocar|nuevas?|cambios)|\bprohibid\w+|\bningun[ao]? (?:nuev|dependencia|cambio)\w*|\bpor favor,? no\b|\bfuera (?:de|del) alcance|\bsolo (?:se )?(?:debe|cambi|modifi|toca)\w*|\bnão (?:alter|mud|mex|adicion|remov|us|quebr|deve)\w*|\bsem (?:alterar|mudar|quebrar|adicionar|novas?)|\bnon (?:modific|cambi|tocc|aggiung|romper|deve|devono|us)\w*|\bsenza (?:modific|cambi|aggiung|romper|nuov)\w*",
        // Russian
        r"\bне (?:меня|трога|измен|добавл|удал|лома|использ|должн|нужно мен|переимен)\w*|\bнельзя\b|\bзапрещ\w*|\bбез (?:изменени|новых|измен)\w*|\bтолько (?:измен|добав)\w*",
    ])
});

/// Something is to stay as it is.
pub(super) static STAYS: LazyLock<Regex> = LazyLock::new(|| {
    any_of(&[
        r"(?:^|[.:;,(—–-]\s*|\bplease\s+)(?:keep|leave|preserve|retain|stick (?:to|with)|stay (?:with|within|on|compatible))\b",
        r"\b(?:but|and|to|must|should|so)\s+(?:keep|leave|preserve|retain)\s+(?:the|its|their|all|both|every|it|them|existing|current|backwards?|compatib\w+|\w+ (?:unchanged|intact|working|compatible|as|stable))\b",
        r"\b(?:must|has to|have to|needs? to|should|ought to|is to|are to|shall) (?:also |still |always |all )?(?:stay|remain|be kept|be preserved|continue|be left|keep)\b|\b(?:must|has to|have to|needs? to|should) still\b",
        r"\b(?:stays?|remains?) (?:exactly |strictly |fully )?(?:as\b|unchanged|untouched|the same|identical|in\b|an? |private|public|compatible|stable|intact|backwards?|supported|read-?only|byte|on\b|within|valid)",
        r"\bunchanged\b|\buntouched\b|\b(?:stay|remain|keep|kept|left|leave|use)\w*\b[^.]{0,80}?\b(?:as (?:it|they) (?:is|are)\b|as[- ]is\b|as before\b)|\bbackwards?[- ]compatib\w*|\bkeeps? (?:working|its|their)\b|\bleave [^.]{1,60} alone\b|\bin its present form\b|\bis frozen\b",
        r"그대로 ?(?:사용|유지|두|둔|둡|둬|쓰|남)|유지(?:해|되|한|할|하|돼|됩)|호환(?:성)?[^.]{0,8}유지|변함없|동일해야|같아야",
        r"維持|そのまま(?:に|で|使|残|と)|保(?:つ|って|持)|互換(?:性)?を|変わらない(?:こと|ように)|同じまま",
        r"保持|不变|維持|维持|保留|兼容",
        r"\b(?:bleib(?:t|en)|beibehalten|beizubehalten|unverändert|erhalten bleiben|kompatibel bleiben)\b|\bbelass\w*|\bso lassen\b",
        r"\b(?:inchangée?s?|conserver|conservez|garder|gardez|doi(?:t|vent) rester|reste(?:nt|r)? (?:compatible|inchang|identique|tel)\w*|rétrocompatib\w*)\b",
        r"\b(?:mantener|mantén|mantenga|conservar|debe(?:n)? (?:seguir|permanecer|mantenerse|quedar)|retrocompatib\w*|compatibilidad hacia atrás|manter|mantenha|mantenere|deve(?:m)? (?:permanecer|continuar)|invariat\w)\b",
        r"\b(?:остав(?:ь|ить|ляем|аться)|сохран(?:и|ить|ять)|должн\w+ остаться|без изменений|совместим)\w*",
    ])
});

/// An order not to touch something, as against a claim about the result.
pub(super) static LEAVE: LazyLock<Regex> = LazyLock::new(|| {
    any_of(&[
        r"^(?:please\s+)?(?:do not|don'?t|don’t|never|avoid|keep|leave|preserve|retain|only (?:add|touch|change|edit|modify|use))\b|\bplease (?:do not|don'?t|don’t|keep|leave|avoid|fix (?:it|this) in)\b|^no (?:new|additional|other|further|more|external|breaking|code|api|changes?)\b",
        r"\bneeds? no changes?\b|\b(?:is|are) (?:not an option|out of scope|not in scope)\b|\bwithout (?:changing|touching)\b",
        r"지 ?(?:말아|말 것|마세요|마십시오|말고)|금지(?:$|[.)])|건드리지|그대로 ?(?:사용|두)",
        r"ないでください|しないこと|禁止|触らない|追加しない",
        r"不要|请勿|禁止|不得|切勿|别(?:动|改)",
        r"\bbitte (?:nicht|kein\w*)\b|^keine? (?:neue|weitere|änderung)|\bnicht (?:anfassen|ändern|verändern)\b",
        r"^ne (?:pas|touche|modifie|change)|\bmerci de ne\b|^pas de nouve|^aucune? (?:nouve|dépendance)|^sans ",
        r"^no (?:toca|toque|cambi|modifi|añad|agreg)|\bpor favor,? no\b|^sin (?:nuev|cambi|modific)|^não |^non (?:modific|tocc|aggiung)",
        r"^не |\bнельзя\b",
    ])
});

/// Something is asked for.
pub(super) static WISH: LazyLock<Regex> = LazyLock::new(|| {
    any_of(&[
        r"\b(?:should|must|shall|has to|have to|needs? to|ought to|is supposed to|are supposed to)\b|\b(?:could|can|would) (?:you|we|somebody|someone|anybody|anyone)\b|\b(?:i|we)(?:'d| would| want| need| expect| wish|’d)\b(?: like| love| prefer| use| expect| want)?|\bit would be (?:nice|great|good|helpful|better)\b|\b(?:please|pls|plz)\b|\bideally\b|\bwould be welcome\b|\bwould like\b|\bshall\b|\blet'?s\b",
        r"해야|했으면|하면 좋|바랍니다|주세요|부탁|필요합니다|필요해|되어야|돼야|되도록|하도록|합시다|원합니다|싶습니다",
        r"てほしい|て欲しい|べき|必要(?:が|です|。)|お願い|てください|ようにしたい|したいです|ように(?:する|して|なる)|なければ",
        r"应该|应当|应(?:返回|显示|支持|为|该)|希望|需要|请|必须|要(?:求|能|支持|有)|能够|期望",
        r"\b(?:soll(?:te|ten|en)?|muss|müssen|müsste|möchte(?:n)?|wünsch\w*|brauch(?:e|en|t)|könnte\w*|bitte|wäre)\b",
        r"\b(?:devrait|devraient|doit|doivent|il faut|faudrait|souhait\w*|voudrai\w*|aimerai\w*|besoin|merci de|pourriez|pouvez|peut-on|serait)\b",
        r"\b(?:debe|deben|debería|deberían|hay que|necesit\w*|quisier\w*|querem?os|gustaría|podría\w*|por favor|sería|tiene que|tienen que|deve|devem|deveria|preciso|precisa\w*|dovrebbe|vorre\w*)\b",
        r"\b(?:должн\w*|нужно|надо|следует|необходимо|хотелось|прошу|пожалуйста)\b",
    ])
});

/// A sentence that begins with an order ("Add ...", "Füge ... hinzu").
pub(super) static ORDER: LazyLock<Regex> = LazyLock::new(|| {
    any_of(&[
        r"^(?:please |pls |plz )?(?:add|make|let|allow|support|implement|create|write|fix|use|change|rename|move|hand|reduce|group|collapse|catch|emit|restore|respect|honou?r|apply|pass|include|exclude|rewrite|rework|describe|explain|record|detect|escape|encode|decode|trim|strip|round|retry|delay|disable|enable|prevent|ignore|generate|compute|calculate|resolve|free|release|share|reuse|expire|invalidate|throttle|debounce|batch|stream|paginate|filter|highlight|render|draw|hide|display|notify|remove|delete|drop|replace|split|extract|return|show|print|log|handle|reject|accept|validate|update|upgrade|bump|introduce|expose|provide|ensure|convert|document|cover|test|turn|switch|wrap|check|store|cache|read|raise|throw|report|warn|skip|treat|extend|set|normali[sz]e|sort|parse|load|save|send|limit|count|link|fill|merge|port|clean|tidy|migrate)\b",
        r"(?:추가|수정|변경|삭제|구현|작성|제거|이동|분리|개선|적용|지원|등록|교체)(?:한다|하기|할 것|함|해|하세요|합니다)?\.?$",
        r"(?:追加|修正|変更|削除|実装|作成|対応|移動|分割|更新)(?:する|すること|して|。|$)",
        r"^(?:添加|增加|修复|修改|删除|实现|编写|支持|移动|拆分|更新|重构|返回|显示)",
    ])
});

/// The check boxes of issue templates.
pub(super) static BOILERPLATE: LazyLock<Regex> = LazyLock::new(|| {
    any_of(&[
        r"code of conduct|contributing (?:guide|guidelines|\.md)|contribution guidelines|\bi(?:'ve| have)? (?:read|searched|checked|agree|verified|confirm|understand|updated|tested|followed|looked)\b|(?:searched|checked) (?:for )?(?:the )?(?:existing|open|similar|other) issues|duplicate issue|this is not a duplicate|by submitting this|cla\b.*signed|signed the cla|willing to (?:submit|open|send) a (?:pr|pull)|are you willing|using the latest version",
        r"기존 이슈|중복(?:된)? 이슈|행동 ?강령|既存の(?:issue|課題)|行動規範|已(?:经)?搜索|行为准则|verhaltenskodex|code de conduite|código de conducta",
    ])
});

pub(super) static TEST: LazyLock<Regex> = LazyLock::new(|| {
    any_of(&[
        r"\b(?:regression |unit )?tests?\b|\btestf[aä]ll\w*|\bpruebas?\b|\bteste\b|\bтест\w*|테스트|テスト|测试|測試",
    ])
});

pub(super) static TEST_WISH: LazyLock<Regex> = LazyLock::new(|| {
    any_of(&[
        r"\bwould (?:be|make|help|also|do)\b|\bwelcome\b|\bnice to have\b|\bappreciated\b|\bplease\b[^.]{0,30}\b(?:add|write|include|cover)|\b(?:add|write|include) (?:an? |some |the )?[^.]{0,30}\btests?\b|\b(?:should|must|needs? to|has to|have to) (?:be covered|cover|have|come with|be added|be a|exist|check|include|get)|\b(?:want|need|would like|'d like|’d like)\b[^.]{0,40}\btests?\b",
        r"\b(?:wäre|wären|gehört|brauch\w*|bitte|schreib\w*|ergänz\w*|hinzufüg\w*|soll(?:te)?)\b",
        r"추가|있으면|주세요|부탁|작성|필요|바랍니다|좋겠",
        r"追加|欲しい|ほしい|ください|書い|必要|お願い|あると",
        r"(?:请|加|补|写|需要|希望|增加|添加|最好|附)",
        r"\b(?:serait|bienvenu|ajout\w*|écri\w*|faudrait|il faut|merci|prévoir)\b",
        r"\b(?:sería|estaría|vendría|agreg\w*|añad\w*|escrib\w*|hace falta|falta|adicion\w*|seria|aggiung\w*)\b",
        r"\b(?:добав\w*|нуж\w*|напи\w*|хорошо бы)\b",
    ])
});

/// Where one claim ends and the next begins inside a sentence.
pub(super) static NEXT_CLAIM: LazyLock<Regex> = LazyLock::new(|| {
    any_of(&[r", and (?P<next>(?:an?|the|it|its|no|each|every|there|all|nothing) )", r";(?P<then> )"])
});

/// Where a clause with its own cue may begin.
pub(super) static CLAUSE: LazyLock<Regex> = LazyLock::new(|| {
    any_of(&[
        r"; (?:and |but )?",
        r", (?:and|but|so|however|though|since) ",
        r", (?:aber|und|sondern|mais|et|pero|y|mas|но|и) ",
        r"。",
        r"；",
        r"，(?:但|并且|而且|同时|请|也|且|并)",
    ])
});

/// Headings that list work to do rather than what must hold; what is expected stands beside them.
pub(super) static WORK_LIST: LazyLock<Regex> = LazyLock::new(|| {
    any_of(&[
        r"(?i)^\W*(?:to[- ]?dos?|tasks?|scope|checklist|aufgaben|tareas|tâches|à faire)\b|할 ?일|작업|やること|タスク|待办|任务",
    ])
});

/// Between two rules of one sentence.
pub(super) static NEXT_RULE: LazyLock<Regex> = LazyLock::new(|| any_of(&[r"; ", r"；", r"，(?:也|且|并且|而且|同时)"]));
