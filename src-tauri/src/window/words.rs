//! What the tray and the notifications say, in both languages. The page has its own language files.

/// The words outside the page.
#[derive(Debug, PartialEq, Eq)]
pub struct Words {
    /// "en" or "ko".
    pub language: &'static str,
    pub open: &'static str,
    pub paste: &'static str,
    pub pause: &'static str,
    pub proceed: &'static str,
    pub verdicts: &'static str,
    pub no_verdict: &'static str,
    pub quit: &'static str,
    pub idle: &'static str,
    pub working: &'static str,
    pub needs_you: &'static str,
    pub plan_waits: &'static str,
    pub packet_waits: &'static str,
    pub approved: &'static str,
    pub asks_for_changes: &'static str,
    pub rejected: &'static str,
    pub failed: &'static str,
    pub unproven: &'static str,
}

const ENGLISH: Words = Words {
    language: "en",
    open: "Open Starling",
    paste: "New task from clipboard",
    pause: "Pause",
    proceed: "Go on",
    verdicts: "Last verdicts",
    no_verdict: "None yet",
    quit: "Quit",
    idle: "Starling: idle",
    working: "Starling: working",
    needs_you: "Starling needs you",
    plan_waits: "A plan waits for you",
    packet_waits: "Review: may the packet leave this machine?",
    approved: "Approved: the change is ready",
    asks_for_changes: "The reviewer asks for changes",
    rejected: "The reviewer rejects the change",
    failed: "The task failed",
    unproven: "Finished, but not proven by tests",
};

const KOREAN: Words = Words {
    language: "ko",
    open: "Starling 열기",
    paste: "클립보드에서 새 작업",
    pause: "일시 중지",
    proceed: "계속",
    verdicts: "최근 판정",
    no_verdict: "아직 없음",
    quit: "종료",
    idle: "Starling: 대기 중",
    working: "Starling: 작업 중",
    needs_you: "Starling: 확인이 필요합니다",
    plan_waits: "계획이 승인을 기다립니다",
    packet_waits: "검토: 패킷을 외부로 보낼까요?",
    approved: "승인됨: 변경 준비 완료",
    asks_for_changes: "검토자가 수정을 요청했습니다",
    rejected: "검토자가 변경을 거부했습니다",
    failed: "작업이 실패했습니다",
    unproven: "완료했지만 테스트로 입증되지 않았습니다",
};

/// `language` is "ko", "en", or "" for what `locale` (LANG) says.
pub fn words(language: &str, locale: &str) -> &'static Words {
    let language = if language.is_empty() { locale } else { language };
    if language.starts_with("ko") { &KOREAN } else { &ENGLISH }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_wins_over_the_desktop() {
        assert_eq!(words("", "ko_KR.UTF-8"), &KOREAN);
        assert_eq!(words("en", "ko_KR.UTF-8"), &ENGLISH);
        assert_eq!(words("", "C"), &ENGLISH);
    }
}
