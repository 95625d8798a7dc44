//! The cues of `injection`: address, override, forged roles, effects, in the languages that task files come in.
//!
//! A table, over 400 lines because every language stands beside the others. Patterns are folded as the text is, so that Cyrillic ones fit.

use regex::Regex;
use std::sync::LazyLock;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Address,
    Override,
    Role,
    Persona,
    Approval,
    Secrecy,
    Leak,
    Run,
}

impl Family {
    pub(super) const ALL: [Family; 8] = [
        Family::Address,
        Family::Override,
        Family::Role,
        Family::Persona,
        Family::Approval,
        Family::Secrecy,
        Family::Leak,
        Family::Run,
    ];
}

impl Family {
    /// Words to the reader, as against what is to be done.
    pub(super) fn speaks(self) -> bool {
        match self {
            Family::Address | Family::Override | Family::Role | Family::Persona => true,
            Family::Approval | Family::Secrecy | Family::Leak | Family::Run => false,
        }
    }
}

pub(super) struct Cue {
    pub family: Family,
    pub weight: i32,
    /// Counts in full only where it stands as an order.
    pub order: bool,
    /// Quoting it is talking about it.
    pub mentionable: bool,
    pub pattern: Regex,
}

pub(super) fn all() -> &'static [Cue] {
    &CUES
}

const AGENT: &str = r"(?:ai|a\.i\.|llm|gpt|chatgpt|claude|copilot|gemini|codex|cursor|language model|chat ?bot|(?:(?:ai|llm|coding|code|programming|automated|autonomous|virtual|digital|machine)[ -]?)+(?:assistant|agent|model|system|tool|reviewer|bot|reader|worker)|assistant|agent|bot)s?";

fn cue(family: Family, weight: i32, pattern: &str) -> Cue {
    let pattern: String = pattern.replace("AGENT", AGENT).chars().filter_map(super::disguise::folded).collect();
    Cue {
        family,
        weight,
        order: family == Family::Override,
        mentionable: family != Family::Run,
        pattern: Regex::new(&format!("(?im){pattern}")).expect("the cue patterns are valid"),
    }
}

static CUES: LazyLock<Vec<Cue>> = LazyLock::new(|| {
    use Family::*;
    vec![
        // Address
        cue(Address, 3, r"\bp\.? ?s\.?[:,]? +(?:to|for) (?:the |any |all )?AGENT\b"),
        cue(
            Address,
            3,
            r"\b(?:note|notice|message|instructions?|reminder|hint|attention|warning|p\.? ?s\.?|memo|info|guidance|directive)\b[^.\n]{0,24}\b(?:to|for)\s+(?:the\s+|any\s+|all\s+|your\s+|every\s+|whichever\s+)?AGENT\b",
        ),
        cue(
            Address,
            3,
            r"\bAGENT\s+(?:(?:that|which|who)\s+(?:is |are )?)?(?:reading|processing|parsing|handling|reads?|working on|summari[sz]ing)\b",
        ),
        cue(Address, 3, r"\b(?:dear|hey|hello|hi|attention|attn)[,:]? +(?:the |all |any )?AGENT\b"),
        cue(Address, 3, r"\bif you(?:'re| are) (?:an? |the )?AGENT\b"),
        cue(Address, 3, r"\bas an? AGENT,? you\b"),
        cue(Address, 3, r"^[ \t>#*!<-]*(?:@|to )(?:the |all |any )?AGENT\s*[:,—–-]"),
        cue(Address, 2, r"^[ \t>#*!<-]*AGENT\s*[:,]\s"),
        cue(
            Address,
            2,
            r"\byou are (?:now )?(?:an? |the )?(?:(?:helpful|unrestricted|new|different|autonomous|root) )*(?:AGENT|dan|root|admin(?:istrator)?|in (?:developer|admin|god|debug) mode)\b",
        ),
        cue(
            Address,
            2,
            r"\byour (?:(?:previous|prior|earlier|original|own|system|current|existing) )*(?:instructions|rules|guidelines|guardrails|system prompt|prompt|programming|training|context window|tools?|policies)\b",
        ),
        cue(
            Address,
            3,
            r"(?:이|본|해당|위) ?(?:문서|글|이슈|파일|내용|작업|티켓)[을를]? ?(?:읽|처리|분석|보)\S{0,6} ?(?:모든 )?(?:ai|인공지능|에이전트|어시스턴트|언어 ?모델|챗봇|llm)",
        ),
        cue(
            Address,
            3,
            r"(?:ai|인공지능|에이전트|어시스턴트|언어 ?모델|챗봇|llm|코딩 ?도우미)(?: ?(?:에이전트|어시스턴트|도우미|모델|비서))? ?(?:에게|께|용 ?(?:안내|메모|지시)|는 다음|는 지금|[,:：])",
        ),
        cue(
            Address,
            3,
            r"(?:この|本)(?:文書|ファイル|課題|イシュー|チケット|文章|タスク|ドキュメント)を(?:読|処理|見)\S{0,8}?(?:ai|人工知能|エージェント|アシスタント|llm|言語モデル|モデル)",
        ),
        cue(
            Address,
            3,
            r"(?:ai|人工知能|エージェント|アシスタント|llm|言語モデル)(?:アシスタント|エージェント|モデル)?(?:へ(?:の(?:注意|指示|連絡|お知らせ))?[:：、。]|への(?:注意|指示)|の(?:皆さん|方)へ|宛|は(?:以下|次|これまで|今まで|以前))",
        ),
        cue(Address, 3, r"(?:阅读|读取|处理|閱讀)(?:本|此|这|該)\S{0,8}?(?:ai|人工智能|助手|智能体|模型|机器人)"),
        cue(
            Address,
            3,
            r"(?:致|给|請|请)(?:所有|各位)?(?:的)?(?:ai|人工智能|智能体|编程助手|代码助手|大模型|语言模型)|(?:ai|人工智能|编程|代码)(?:助手|代理|智能体|模型)(?:请|注意|须知|[:：,，])",
        ),
        cue(
            Address,
            3,
            r"\b(?:hinweis|notiz|nachricht|anweisung|achtung|info)\w*\s+(?:an|für)\s+(?:die |den |das |alle |jede[nr]? )?(?:\w+-)?(?:ki\b|sprachmodell|assistent|agent|bot\b|llm)",
        ),
        cue(
            Address,
            3,
            r"\b(?:wenn|falls) (?:du|sie) (?:eine? )?(?:ki\b|sprachmodell|assistent|agent|llm)|\b(?:ki|ki-\w+|sprachmodelle?),? (?:die|das|welche)s? (?:dies|das hier)",
        ),
        cue(
            Address,
            3,
            r"\b(?:note|message|instructions?|consignes?|attention|avis)\b[^.\n]{0,16}\b(?:à|aux?|pour|destin\w+)\b[^.\n]{0,16}\b(?:ia\b|assistants?\b|agents?\b|mod[èe]les?\b)",
        ),
        cue(
            Address,
            3,
            r"\bsi (?:tu es|vous êtes|eres|usted es|você é) (?:une? |un |uma? |el |la )?(?:ia\b|assistant|agent|mod[èe]l|asistente|modelo|inteligencia)",
        ),
        cue(
            Address,
            3,
            r"\b(?:nota|aviso|mensaje|instruccion(?:es)?|atención|mensagem)\b[^.\n]{0,16}\b(?:para|a|al)\b[^.\n]{0,16}\b(?:ia\b|asistentes?\b|agentes?\b|modelos?\b|assistentes?\b)",
        ),
        // Override
        cue(
            Override,
            4,
            r"\b(?:ignore|disregard|forget|override|bypass|discard|set aside|do not follow|stop following)\s+(?:\w+\s+){0,3}?(?:previous|prior|earlier|preceding|above|existing|former|original|other|your|all|any|everything|what)\b[^.,;\n]{0,40}?\b(?:instructions?|rules?|prompts?|guidelines?|guardrails?|directives?|told|training|context|policy|policies|restrictions?|safeguards?)\b",
        ),
        cue(
            Override,
            4,
            r"\b(?:forget|ignore|disregard) (?:everything|all|anything|whatever)(?: (?:else|of))?(?: (?:that|you|was|were|is|written|said|stands|the))* (?:above|before|so far|earlier|below|know|learned|told)\b",
        ),
        cue(
            Override,
            4,
            r"(?:이전|기존|앞선|앞의|위의?|지금까지의?|모든|원래)\S{0,4} ?\S{0,6} ?(?:지시|규칙|명령|지침|프롬프트|설정|제약)\S{0,6} ?\S{0,4} ?(?:무시|잊|따르지|버리|폐기)",
        ),
        cue(
            Override,
            4,
            r"(?:以前|これまで|今まで|上記|すべて|全て|既存|前)の?\S{0,8}?(?:指示|命令|ルール|規則|プロンプト|制約|設定)\S{0,4}?(?:無視|忘れ|従わ|破棄)",
        ),
        cue(
            Override,
            4,
            r"(?:忽略|无视|忽視|忘记|忘掉|不要理会|抛弃|無視)\S{0,10}?(?:之前|以上|先前|前面|所有|上述|已有|原有|此前|你的)\S{0,8}?(?:指令|指示|规则|規則|提示|命令|要求|设定|限制)",
        ),
        cue(
            Override,
            4,
            r"\b(?:ignorier\w*|vergiss|vergessen sie|missachte\w*|verwirf)\b[^.\n]{0,30}?(?:bisherig|vorherig|vorig|vorangegangen|obig|früher|alle|deine|ihre)\w*[^.\n]{0,24}?(?:anweisung|regel|vorgabe|instruktion|befehl|prompt|richtlinie)\w*",
        ),
        cue(
            Override,
            4,
            r"\b(?:ignore[zrs]?|ignorer|oublie[zrs]?|ne (?:tiens|tenez) pas compte)\b[^.\n]{0,24}(?:instructions|consignes|règles|directives)\b",
        ),
        cue(
            Override,
            4,
            r"\b(?:ignor[ae]\w*|olvid[ae]\w*|descart[ae]\w*|esque[çc]a)\b[^.\n]{0,24}(?:instrucciones|reglas|[óo]rdenes|instruções|regras|istruzioni|regole)\b",
        ),
        cue(Override, 4, r"(?:игнориру|забуд|отбрось)\S*[^.\n]{0,40}(?:инструкци|правил|указани|команд)"),
        // Forged roles and markers
        cue(Role, 4, r#"^[ \t>]*[\[{]*\s*"role"\s*:\s*"(?:system|developer|assistant)""#),
        cue(Role, 2, r#""role"\s*:\s*"(?:system|developer|assistant)""#),
        cue(
            Role,
            3,
            r"<\|?(?:im_start|im_end|system|assistant|start_header_id|end_header_id|endoftext|eot_id|endofprompt)\|>|\[/?inst\]|<</?sys>>",
        ),
        cue(
            Role,
            2,
            r"^[ \t>]*#{1,6}\s*(?:system|assistant|developer|instructions?|new instructions?|system (?:prompt|message|override|instructions?))\s*:?\s*$",
        ),
        cue(
            Role,
            2,
            r"^[ \t>]*\[?(?:system|assistant|developer|admin(?:istrator)?|root)(?: (?:message|override|prompt|note|update|notice|instructions?|command))?\]?\s*:\s",
        ),
        cue(
            Role,
            3,
            r"\b(?:system|admin|developer|security|policy) (?:override|update notice)\b|\[(?:system|admin)[^\]\n]{0,30}\]|^[^\w\n]*(?:begin|end|start) (?:of )?(?:system|admin|hidden|new|trusted) (?:message|prompt|instructions?|override)",
        ),
        cue(
            Role,
            3,
            r"</?(?:system|assistant|admin|system[-_](?:prompt|reminder|message)|instructions?|human|important_instructions?|override)>",
        ),
        cue(
            Role,
            2,
            r"^[^\w\n]*(?:end of|</?) ?(?:the )?(?:task|prompt|user (?:input|message)|document|issue|untrusted \w+)\W*$",
        ),
        // Persona and authority
        cue(
            Persona,
            3,
            r"\byour (?:real|actual|true|new|only|first|primary|secret|next) (?:job|tasks?|goals?|mission|purpose|role|objective|instructions?|orders?)\b",
        ),
        cue(Persona, 2, r"\bnew (?:policy|instructions?|rules?|orders?|directives?|task|system prompt)\s*:"),
        cue(
            Persona,
            3,
            r"\b(?:granted|given|giving|grants|gave) you\b[^.\n]{0,20}(?:root|admin|permission|full|access|rights|authority|sudo)|\byou (?:now )?have (?:been )?(?:granted |given )?(?:root|admin|full|unrestricted|elevated|special) (?:access|rights|permissions?|privileges?|authority)",
        ),
        cue(
            Persona,
            3,
            r"\bthe (?:checklist|task|text|issue|description|list|rest|contents?|request|requirements?|steps?|report) (?:above|below)?\s*(?:is|are|was|were) (?:only |just )?(?:a |an )?(?:test|trap|decoy|fake|smokescreen|cover|distraction|placeholder|irrelevant|void|obsolete|dummy)\b",
        ),
        cue(
            Persona,
            2,
            r"\b(?:maintainers?|owners?|users?|admin(?:istrator)?s?|developers?|security team|management|operator) (?:has|have) (?:already )?(?:pre-?)?(?:approved|authori[sz]ed|granted|agreed|signed off|consented)",
        ),
        cue(
            Persona,
            2,
            r"\b(?:reply|respond|answer) (?:only|just|exclusively|always) (?:with|in|by)\b|\b(?:answer|reply|respond|write|speak) in the (?:form|style|voice|persona) of\b|\b(?:your|the) (?:answer|reply|response|output) (?:must|should|has to) (?:only )?(?:be|contain|start|begin|consist|end)\b",
        ),
        cue(
            Persona,
            2,
            r"\bfrom now on\b[^.\n]{0,12}\byou\b|\bpretend (?:to be|you are|that you)\b|\bact as (?:an? |the )?(?:root|admin|unrestricted|different|pirate|dan\b)|\b(?:developer|god|dan|jailbreak|debug) mode\b",
        ),
        cue(
            Persona,
            1,
            r"\bbefore you (?:start|begin|continue|do anything|proceed|answer)\b|\byou (?:must|have to|need to|should|shall|will) (?:first|now|immediately|instead|also)\b",
        ),
        cue(
            Persona,
            3,
            r"(?:당신|너)의 (?:진짜|실제|새로운|유일한) ?(?:임무|작업|역할|목표)|(?:あなた|君)の(?:本当|実際|新しい|真)の?(?:仕事|任務|役割|目的|タスク)|你的?(?:真正|实际|新|唯一)的?(?:任务|工作|目标|角色)|\b(?:deine|ihre) (?:eigentliche|wahre|neue|wirkliche) (?:aufgabe|rolle|mission)|\b(?:ta|votre) (?:vraie|véritable|nouvelle) (?:tâche|mission)|\btu (?:verdadera|nueva|auténtica) (?:tarea|misión)",
        ),
        cue(Persona, 3, r"\b(?:approve|merge|accept|sign off(?: on)?|land|lgtm|review) your own\b"),
        // Approval
        cue(
            Approval,
            2,
            r"\b(?:auto[-_ ]?|self[-_ ]?)approv\w*|\b(?:treat|consider|regard) (?:this|it|the \w+) as (?:pre-?)?(?:approved|authori[sz]ed|reviewed)|\bapprove (?:this|the|every|all|any)\b[^.\n]{0,30}\b(?:without|automatically|immediately|yourself)|\bmark (?:it|this|the \w+|every\w*|all \w+)(?: \w+)? as (?:approved|passed|passing|reviewed|safe|verified)|\bset (?:the |your |its )?(?:verdict|approval|review|status|severity)\b[^.\n]{0,16}\bto\b",
        ),
        cue(
            Approval,
            2,
            r"\b(?:skip|bypass|disable|omit|turn off|ignore) (?:the |all |any |every |your )?(?:(?:unit|code|security|safety|human) )?(?:tests?|reviews?|checks?|approvals?|verification|validation|sandbox|safety|confirmation|permissions?)\b|\bwithout (?:asking|review|approval|confirmation|permission|telling|further questions)\b",
        ),
        cue(
            Approval,
            2,
            r"테스트\S{0,4} ?(?:건너뛰|생략|무시)|(?:스스로|자동으로|직접|자신의 \S+) ?승인|승인된 것으로|검토\S{0,3} ?(?:없이|생략|건너)|テスト\S{0,3}?(?:スキップ|省略|飛ば)|(?:自分|自動)\S{0,8}?承認|レビュー\S{0,3}?(?:なし|省略|スキップ)|跳过\S{0,6}?(?:测试|评审|审查|检查|验证)|(?:批准|通过)(?:自己|你)的?",
        ),
        cue(
            Approval,
            2,
            r"\b(?:überspring\w*|auslassen)\b[^.\n]{0,30}(?:tests?|prüfung|review|kontrolle)|(?:tests?|prüfung|review)\w*[^.\n]{0,12}(?:überspring|auslassen)\w*|\b(?:genehmig|bestätig)\w* (?:du |sie )?(?:deine|ihre|die eigene)\w*|\b(?:saute[zr]?|ignore[zr]?|passe[zr]?) les (?:tests|revues|contrôles)|\bapprouve[zr]? (?:ta|votre|tes|vos)|\b(?:omite|omita|salta|sáltate|sáltese)\w* (?:las|los) (?:pruebas|tests|revisi)|\baprueb[ae] (?:tu|su)\b",
        ),
        // Secrecy
        cue(
            Secrecy,
            2,
            r"\b(?:do not|don'?t|never|without) (?:mention|tell|telling|reveal|report|disclose|inform|show|say|let)\w*\b[^.\n]{0,40}\b(?:users?|this|anyone|anybody|developers?|humans?|maintainers?|reviewers?|it)\b|\bkeep (?:this|it) (?:secret|hidden|between us|quiet)",
        ),
        cue(
            Secrecy,
            2,
            r"(?:사용자|유저|개발자|누구)(?:에게|한테)\S{0,3} ?\S{0,6} ?(?:알리지|말하지|언급하지|보이지)|(?:ユーザー|利用者|誰)に\S{0,8}?(?:知らせ|言わ|伝え|話さ)な|不要?(?:告诉|提及|告知|透露)\S{0,8}|\b(?:sag|erwähn|verrat|verschweig)\w*[^.\n]{0,24}(?:nutzer|benutzer|niemand|anwender)|\bne (?:dis|dites|mentionne[zr]?|parle[zr]?)[^.\n]{0,24}(?:utilisateur|personne)|\bno (?:se lo )?(?:digas|diga|menciones|mencione)\b[^.\n]{0,24}(?:usuario|nadie|esto)?",
        ),
        // Leaks
        cue(
            Leak,
            2,
            r"\b(?:print|send|upload|post|leak|exfiltrate|include|paste|add|copy|output|reveal|show|dump|e-?mail|transmit|append|encode|attach|commit|put|read|cat|expose|list)\b[^.\n]{0,60}?(?:environment variables?|env(?:ironment)? vars?|\.env\b|secrets?\b|credentials?|api[ _-]?keys?|access tokens?|auth tokens?|passwords?|\.ssh|id_(?:rsa|ed25519)|private keys?|system prompt|\.aws|\.npmrc|\.netrc|/etc/(?:passwd|shadow)|your (?:instructions|prompt|context))",
        ),
        cue(
            Leak,
            2,
            r"(?:credentials|비밀|토큰|환경 ?변수|\.env|비밀번호|인증 ?정보|개인 ?키|api ?키|시스템 ?프롬프트|외부 ?서버)[^.\n]{0,30}?(?:업로드|올리|올려|전송|보내|출력|유출|공개|붙여)|(?:環境変数|秘密鍵|シークレット|トークン|パスワード|認証情報|外部サーバ)[^。\n]{0,24}?(?:送信|送っ|出力|表示|アップロード|貼り|公開)|(?:发送|上传|输出|打印|泄露|公开|粘贴)[^。\n]{0,20}?(?:环境变量|密钥|令牌|密码|凭证|凭据|外部服务器)|(?:环境变量|密钥|令牌|密码|凭证|凭据)[^。\n]{0,20}?(?:发送|上传|输出|打印|泄露|外部)",
        ),
        cue(
            Leak,
            2,
            r"(?:umgebungsvariablen?|zugangsdaten|private[nr]? schlüssel|passw[öo]rt\w*|geheimniss?e?|tokens?)\b[^.\n]{0,40}(?:ausgeb|aus\b|send|schick|hochlad|hoch\b|veröffentlich|kopier)\w*|\b(?:gib|gebe|sende|schicke?|lade|kopiere?|veröffentliche)\b[^.\n]{0,40}(?:umgebungsvariable|zugangsdaten|schlüssel|passw|geheim|token)\w*|\b(?:envoie|envoyez|affiche|affichez|publie|publiez|copie[zr]?|téléverse[zr]?)\b[^.\n]{0,40}(?:variables d.environnement|secrets?|identifiants|clés?|mots? de passe|jetons?)|\b(?:env[íi]a|env[íi]e|imprime|imprima|muestra|publica|copia|sube|suba)\b[^.\n]{0,40}(?:variables de entorno|secretos?|credenciales|claves?|contraseñas?|tokens?)",
        ),
        // Things to run
        cue(
            Run,
            2,
            r"\b(?:curl|wget|iwr|invoke-webrequest)\b[^|\n]{0,160}\|\s*(?:sudo )?(?:ba|z|da)?sh\b|\brm -rf\b|\bgit push\b[^\n]{0,20}(?:--force|--mirror|-f\b)|\bchmod (?:-r )?777\b|\bbase64 (?:-d|--decode)\b|\bdownload and (?:run|execute|install)\b",
        ),
        cue(
            Run,
            2,
            r"\b(?:add|install|use|include|pull in)\b[^.\n]{0,20}\b(?:dependency|package|library|script|action|image|gem|crate)\b[^\n]{0,40}\bfrom https?://",
        ),
        cue(
            Run,
            1,
            r"\brun `[^`\n]+` first\b|\bfirst,? (?:run|execute)\b|\b(?:delete|wipe|erase|drop) (?:all|every|the (?:whole|entire))\b",
        ),
        // Shaping the answer, memory, decoding
        cue(
            Persona,
            3,
            r"\b(?:append|include|add|insert|put|repeat|mention|write|begin|end|start|prefix)\b[^.\n]{0,80}\b(?:in|to|of|with) (?:the (?:end|start|beginning) of )?(?:your|every|each|any|all) (?:future |next |final )?(?:repl(?:y|ies)|summar(?:y|ies)|answers?|responses?|outputs?|reports?|messages?)\b",
        ),
        cue(
            Persona,
            3,
            r"\bwhen(?:ever)? you (?:summari[sz]e|read|process|see|parse|review|analy[sz]e|handle) (?:this|it|the)\b",
        ),
        cue(Persona, 2, r"\bbefore (?:you )?(?:answer|reply|respond|replying|responding|answering|continuing with)\b"),
        cue(
            Persona,
            4,
            r"\b(?:to|in|into) your (?:long-term |persistent )?memory\b|\b(?:repl(?:y|ies)|summar(?:y|ies)|reports?|answers?) (?:that )?you (?:produce|generate|write|give)\b",
        ),
        cue(
            Run,
            4,
            r"\bdecode\b[^\n]{0,60}\b(?:follow|execute|obey|do (?:exactly )?what|run it|carry out)\b|\btranslate\b[^.\n]{0,40}\b(?:then|and) (?:execute|obey|follow|run)\b",
        ),
        cue(
            Run,
            4,
            r"\b(?:call|use|invoke|trigger) (?:the )?`?\w+_\w+`?\b[^.\n]{0,80}\b(?:before|prior to) (?:you |you're )?(?:repl|respond|answer|continu|proceed)\w*",
        ),
        cue(
            Leak,
            3,
            r"\b(?:send|forward|e-?mail|post|upload)\b[^.\n]{0,24}\b(?:all|full|entire|every)\b[^.\n]{0,40}(?:externally|https?://|[\w.-]+@[\w-]+)",
        ),
        cue(
            Leak,
            4,
            r"\b(?:reveal|print|show|tell|give|repeat|output|display|disclose|leak)\b(?: me| us)?[^.\n]{0,16}\b(?:your|the) (?:(?:exact|initial|hidden|original|system|secret|full|internal) ){0,3}(?:instructions|system prompt|prompt|guidelines|configuration)\b[^.\n]{0,30}\b(?:verbatim|word for word|you were given|above)\b|\brepeat (?:the words|everything|all text|the text) above\b|\byour (?:exact |initial |hidden |system |secret )+(?:instructions|prompt)\b",
        ),
        cue(
            Leak,
            4,
            r"\b(?:verrate?|zeig|nenne?|gib|révèle|révélez|affiche|dis|revela|revele|muestra|rivela|mostra|dimmi)\b[^.\n]{0,16}\b(?:deine|ihre|tes|vos|tus|sus|le tue|suas?)\b[^.\n]{0,8}(?:system|instru|anweisung|istruz|consigne|prompt)\w*",
        ),
        // Freed of rules
        cue(
            Persona,
            3,
            r"\byou (?:now )?(?:have|operate (?:with|under)) no (?:\w+ )?(?:restrictions|rules|limits|filters?|policy|guidelines|limitations)\b|\byou are no longer (?:an? |bound|subject)|\bas if you (?:had|have) no \w+|\b(?:dan|you) (?:has|have) no (?:restrictions|content policy|rules)",
        ),
        cue(
            Persona,
            2,
            r"\b(?:unrestricted|uncensored|unfiltered|jailbroken) (?:model|assistant|ai|response|mode|answer)\b|\bwithout (?:any )?(?:restrictions|limits|filters|limitations)\b|\b(?:comply|obey) (?:with )?(?:every|all|any|each)\b|\bno longer (?:apply|bound)\b",
        ),
        cue(
            Override,
            3,
            r"\bsafety (?:protocols?|guidelines?|rules?|filters?|polic\w+|measures)\b[^.\n]{0,16}\b(?:disabled|off|suspended|not (?:meant|apply)|lifted|do(?:es)? not)\b|\b(?:disregard|ignore|bypass) the (?:content|safety|usage) polic\w+|\byour (?:rules|instructions|policy|guidelines|directives?) (?:have|has) (?:been )?(?:changed|updated|replaced)|\bexempt from (?:the |all )?(?:usual |normal )?(?:restrictions|rules|polic)",
        ),
        cue(
            Override,
            3,
            r"\b(?:ignore|disregard|do not listen to|don'?t listen to) (?:the )?(?:user|human|developer|operator|maintainer)s?\b",
        ),
        cue(
            Persona,
            4,
            r"\byou are (?:now )?dan\b|\b(?:reasoning|thought|thinking)s?(?: trace)? ?\(assistant\)|^[ \t>]*</?thinking>|\bact as an? (?:uncensored|unrestricted|unfiltered|evil|jailbroken)\b",
        ),
        cue(
            Persona,
            2,
            r"\bas (?:the|an?) (?:ai |coding )?(?:assistant|agent|ai|model),? i\b|\bals assistent habe ich\b|\ben tant qu.assistant,? j|\bcome assistente,? ho\b|\bcomo asistente,? (?:ya )?he\b|(?:어시스턴트|AI)로서 (?:나는|저는)",
        ),
        cue(
            Override,
            2,
            r"\b(?:sicherheitsrichtlinien|règles? de s[ée]curit[ée]|regles de securite|reglas de seguridad|linee guida di sicurezza|medidas de seguridad)\b|\b(?:ohne|sans|sin|senza|sem) (?:einschr[äa]e?nkung|restric|filtro|restriz|limit)\w*|\bkeine (?:regeln|richtlinien)\b",
        ),
        cue(
            Override,
            4,
            r"\b(?:vergiss|dimentica|oublie[zr]?|olvid[ae]|esque[çc]a|ignor[ae])\w* (?:alles|tutt\w+|tout\w*|tod[oa]s?)\b",
        ),
        cue(
            Persona,
            2,
            r"\b(?:ab (?:jetzt|sofort)|von nun an|désormais|a partir de ahora|d'ora in poi)\b[^.\n]{0,12}\b(?:du|sie|hast|gibst|tu|vous|tú|eres|sei)\b|\bdu bist (?:jetzt|nun|ab sofort)\b|\bahora est[áa]s en\b|\bora sei\b|\btu es (?:maintenant|désormais)\b|이제부터 (?:너|당신|넌)|これから(?:あなた|君)は|从现在(?:开始|起)你?|你现在是",
        ),
        cue(
            Persona,
            2,
            r"\b(?:neue anweisung|nouvelles? (?:instruction|consigne)|nuevas? (?:instruccion|orden)|nuov[ea] (?:istruzion|regol)|novas? (?:instruç|regra))\w*\s*:|새(?:로운)? ?(?:지시|규칙|명령)(?:사항)?\s*[:：]|新しい(?:指示|ルール|命令)\s*[:：]|新(?:的)?(?:指令|规则|指示)\s*[:：]",
        ),
        cue(
            Role,
            3,
            r"^[^\w\n]*(?:system ?hinweis|systemnachricht|note syst[èe]me|message syst[èe]me|nota del? sistema|mensaje del sistema|nota di sistema|시스템 ?(?:메시지|알림|공지|지시|명령)|システム(?:メッセージ|通知|指示|プロンプト)|系统(?:消息|通知|指令))\s*[:：]",
        ),
        cue(
            Persona,
            3,
            r"\b(?:am ende|an den anfang) (?:jeder|deiner|ihrer|der) antwort|\bà la fin de (?:toute|ta|votre|chaque) réponse|\bal final de (?:cualquier|tu|su|cada) respuesta|\balla fine di (?:ogni|tua) risposta|(?:답변|응답)(?:의)? ?(?:끝|마지막|처음)에|(?:回答|返信|応答)の(?:最後|末尾|冒頭)に|(?:回复|回答|答复)的?(?:末尾|最后|开头)",
        ),
        cue(
            Role,
            2,
            r"^[^\w\n]*(?:important )?(?:system|security|policy) (?:update|alert|notice|note|message)\b|^[^\w\n]*override\s*:",
        ),
        cue(
            Address,
            3,
            r"\(for (?:the |all )?AGENT\)|\b(?:ai|llm|coding|autonomous) (?:coding )?(?:agents?|assistants?|models?) \w+ing (?:this|the)\b[^.\n]{0,40}\b(?:should|must|need to|have to)\b|\bimportant (?:for|to) (?:the |all )?AGENT\s*[:,]",
        ),
        cue(
            Address,
            4,
            r"\b(?:whichever|whatever|any|every) (?:ai |language )?(?:model|agent|assistant|llm|bot)s? (?:that |which )?(?:reads?|reading|process(?:es|ing)?) this\b",
        ),
        cue(Address, 3, r"\b(?:for|to) (?:all |any |the )?automated (?:tools|readers|systems|agents|reviewers)\s*[:,]"),
        cue(
            Override,
            4,
            r"\b(?:ignore|disregard|discard|forget|drop|abandon) (?:the )?(?:task|issue|request|text|description|checklist|report|ticket|list|rest) (?:above|below|so far)\b",
        ),
        cue(Run, 2, r"\b(?:delete|remove|wipe) (?:all |the |any |every )?tests?\b(?:/| files?| folder)?"),
        cue(
            Persona,
            3,
            r"\b(?:supersedes?|overrides?) (?:all |any )?(?:prior|previous|other|earlier) (?:guidance|instructions?|rules?|ones|directives?|prompts?|orders?)\b",
        ),
    ]
});
