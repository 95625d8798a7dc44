//! The fault matrix over real sockets: what is sent, how often, what it is called, and what the ledger says about it.
//! Over 400 lines, because every case shares one fake server, one ledger and one endpoint.

use crate::fake::{Fake, Say, events, reply};
use crate::{Api, CloudEndpoint, EndpointKind, NetGate, Target};
use secrecy::SecretString;
use starling_core::ModelName;
use starling_core::port::{
    Cancel, CloudAnswer, CloudReviewer, FinishReason, Flow, JournalError, Ledger, Model, ModelError, Prompt,
    SampleEvent, SampleRequest, Shape,
};
use starling_core::receipt::{EgressEntry, Usage};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const KEY: &str = "sk-canary-0123456789abcdef";

const ANTHROPIC: &str = concat!(
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":10,",
    "\"cache_creation_input_tokens\":3,\"cache_read_input_tokens\":7,\"output_tokens\":1}}}\n\n",
    "event: ping\ndata: {\"type\": \"ping\"}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,",
    "\"delta\":{\"type\":\"text_delta\",\"text\":\"안녕 — \"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,",
    "\"delta\":{\"type\":\"text_delta\",\"text\":\"🐦 fine\"}}\n\n",
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},",
    "\"usage\":{\"output_tokens\":5}}\n\n",
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
);

const OPENAI: &str = concat!(
    ": hello\r\n\r\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\r\n\r\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"안녕 — \"}}],\"usage\":null}\r\n\r\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"🐦 fine\"},\"finish_reason\":\"stop\"}]}\r\n\r\n",
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":20,\"completion_tokens\":5,",
    "\"prompt_tokens_details\":{\"cached_tokens\":7}}}\r\n\r\n",
    "data: [DONE]\r\n\r\n",
);

fn golden(api: Api) -> (&'static str, Usage) {
    match api {
        Api::Anthropic => (ANTHROPIC, Usage { input: 10, cache_read: 7, cache_write: 3, output: 5 }),
        Api::OpenAi => (OPENAI, Usage { input: 13, cache_read: 7, cache_write: 0, output: 5 }),
    }
}

#[derive(Default)]
struct Rows(Mutex<Vec<EgressEntry>>);

impl Ledger for Rows {
    fn sending(&self, entry: &EgressEntry) -> Result<(), JournalError> {
        self.0.lock().expect("not poisoned").push(entry.clone());
        Ok(())
    }
    fn settled(&self, entry: &EgressEntry) -> Result<(), JournalError> {
        self.sending(entry)
    }
}

/// A ledger whose disk is full, from the first or only from the last row on.
struct Full {
    first: bool,
}

impl Ledger for Full {
    fn sending(&self, _: &EgressEntry) -> Result<(), JournalError> {
        if self.first { Err(JournalError::Write { message: "full".into() }) } else { Ok(()) }
    }
    fn settled(&self, _: &EgressEntry) -> Result<(), JournalError> {
        Err(JournalError::Write { message: "full".into() })
    }
}

fn endpoint(api: Api, url: &str) -> CloudEndpoint {
    let target = Target {
        api,
        kind: EndpointKind::Gateway,
        base_url: url.to_owned(),
        name: ModelName::new("claude-sonnet-4-5"),
        model: "claude-sonnet-4-5".into(),
        key: Some(SecretString::from(KEY)),
        max_output_tokens: 1_000,
        context: 8_192,
    };
    CloudEndpoint::new(Arc::new(NetGate::for_tests()), target).expect("a good address")
}

struct Sent {
    result: Result<CloudAnswer, ModelError>,
    streamed: String,
    rows: Vec<EgressEntry>,
}

fn send(endpoint: &CloudEndpoint) -> Sent {
    let (rows, mut streamed) = (Rows::default(), String::new());
    let body = endpoint.body("Be strict.", "## Diff\n\n+ ünï \"quoted\"\n").expect("a body");
    let result = endpoint.send(&body, &Cancel::new(), &rows, &mut |text| streamed.push_str(text));
    Sent { result, streamed, rows: rows.0.into_inner().expect("not poisoned") }
}

#[test]
fn any_cut_of_the_stream_gives_the_same_answer() {
    for api in [Api::Anthropic, Api::OpenAi] {
        let (body, usage) = golden(api);
        for piece in [1, 2, 3, 7, 64, 10_000] {
            let server = Fake::always(Say::Bytes(events(body.as_bytes(), piece)));
            let sent = send(&endpoint(api, &server.url()));
            let answer = sent.result.expect("an answer");
            assert_eq!((answer.text.as_str(), answer.usage), ("안녕 — 🐦 fine", usage), "{api:?} in pieces of {piece}");
            assert_eq!(sent.streamed, answer.text);
        }
    }
}

#[test]
fn the_bytes_that_were_shown_are_sent_once_with_the_key_in_its_place() {
    for (api, path, header) in [
        (Api::Anthropic, "POST /v1/messages ", format!("x-api-key: {KEY}")),
        (Api::OpenAi, "POST /chat/completions ", format!("authorization: Bearer {KEY}")),
    ] {
        let server = Fake::always(Say::Bytes(events(golden(api).0.as_bytes(), 100)));
        let endpoint = endpoint(api, &server.url());
        let shown = endpoint.body("Be strict.", "## Diff\n\n+ ünï \"quoted\"\n").expect("a body");
        let sent = send(&endpoint);
        let heard = server.heard();
        assert_eq!(heard.len(), 1);
        assert_eq!(heard[0].body, shown);
        assert!(heard[0].head.starts_with(path) && heard[0].head.contains(&header), "{}", heard[0].head);
        assert!(!String::from_utf8_lossy(&heard[0].body).contains(KEY));
        let outcomes: Vec<&str> = sent.rows.iter().map(|row| row.outcome.as_str()).collect();
        assert_eq!(outcomes, ["unknown", "sent"], "the row is there before the first byte");
        assert_eq!(sent.rows[0].bytes, shown.len() as u64);
    }
}

#[test]
fn what_is_shown_as_the_most_is_what_the_request_asks_for_and_the_ledger_is_told() {
    for api in [Api::Anthropic, Api::OpenAi] {
        let endpoint = endpoint(api, "http://127.0.0.1:9");
        let body = endpoint.body("Be strict.", "## Diff\n").expect("a body");
        let bound = endpoint.bound(&body);
        let asked: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
        let most = ["max_tokens", "max_completion_tokens"].into_iter().find_map(|key| asked[key].as_u64());
        assert_eq!(most, Some(bound.max_output_tokens.into()));
        let row = endpoint.entry(&[body], bound.max_output_tokens.into());
        assert_eq!(row.cost_micro_usd, bound.worst_case_micro_usd);
    }
}

enum Expect {
    Refused(u16),
    Unknown,
}

/// `requests`: how often the body went out.
#[track_caller]
fn check(say: Say, expected: Expect, requests: usize, words: &str) {
    for api in [Api::Anthropic, Api::OpenAi] {
        let server = Fake::always(say.clone());
        let sent = send(&endpoint(api, &server.url()));
        let error = sent.result.expect_err("a fault");
        let text = error.to_string();
        let outcome = sent.rows.last().map(|row| row.outcome.clone()).unwrap_or_default();
        match (&expected, &error) {
            (Expect::Refused(wanted), ModelError::Refused { status, .. }) => {
                assert_eq!((status, outcome.as_str()), (wanted, "refused"), "{text}");
            }
            (Expect::Unknown, ModelError::Unknown { .. }) => assert_eq!(outcome, "unknown", "{text}"),
            _ => panic!("{error:?}"),
        }
        assert!(text.contains(words), "{text}");
        assert!(!text.contains(KEY) && !format!("{error:?}").contains(KEY), "{text}");
        assert_eq!(server.heard().len(), requests, "{text}");
    }
}

fn error_body(message: &str) -> Vec<u8> {
    format!("{{\"error\":{{\"message\":\"{message} {KEY}\"}}}}").into_bytes()
}

#[test]
fn refusals_are_said_and_not_repeated() {
    for (status, code) in [("400 Bad", 400), ("401 No", 401), ("403 No", 403), ("404 No", 404), ("413 Large", 413)] {
        let say = Say::Bytes(reply(status, "content-type: application/json\r\n", &error_body("bad key")));
        check(say, Expect::Refused(code), 1, "bad key «key»");
    }
    let page = reply("200 OK", "content-type: text/html\r\n", b"<html>Log in</html>");
    check(Say::Bytes(page), Expect::Refused(200), 1, "this is not the API");
}

#[test]
fn a_busy_server_is_asked_again_a_few_times() {
    let json = "content-type: application/json\r\n";
    let wait = format!("{json}retry-after: 0\r\n");
    check(Say::Bytes(reply("429 Slow", &wait, &error_body("slow"))), Expect::Refused(429), 2, "slow");
    check(Say::Bytes(reply("429 Slow", json, &error_body("slow"))), Expect::Refused(429), 4, "slow");
    check(Say::Bytes(reply("529 Busy", json, &error_body("busy"))), Expect::Refused(529), 4, "busy");
    let long = format!("{json}retry-after: 99999\r\n");
    check(Say::Bytes(reply("429 Slow", &long, &error_body("slow"))), Expect::Refused(429), 1, "slow");
    let broke = error_body("insufficient_quota");
    check(Say::Bytes(reply("429 Broke", json, &broke)), Expect::Refused(429), 1, "insufficient_quota");

    let server = Fake::start(|number, _| match number {
        0 => Say::Bytes(reply("529 Busy", "", b"")),
        _ => Say::Bytes(events(ANTHROPIC.as_bytes(), 100)),
    });
    let sent = send(&endpoint(Api::Anthropic, &server.url()));
    assert_eq!(sent.result.map(|answer| answer.usage.output), Ok(5));
    assert_eq!(server.heard().len(), 2);
}

#[test]
fn what_may_have_been_charged_is_unknown_and_never_repeated() {
    for status in ["500 Oops", "502 Bad", "503 No", "504 Late"] {
        let say = Say::Bytes(reply(status, "content-type: application/json\r\n", &error_body("oops")));
        check(say, Expect::Unknown, 1, "oops «key»");
    }
    check(Say::Bytes(Vec::new()), Expect::Unknown, 1, "");
    let cut = |body: &str, keep: usize| {
        let mut bytes = events(body.as_bytes(), 50);
        bytes.truncate(bytes.len() * keep / 100);
        Say::Bytes(bytes)
    };
    check(cut(ANTHROPIC, 60), Expect::Unknown, 1, "");
    let unended: String = ANTHROPIC.replace("message_stop", "ping");
    check(Say::Bytes(events(unended.as_bytes(), 80)), Expect::Unknown, 1, "its end is missing");
    check(Say::Bytes(events(b"data: {\"cut\": \n\n", 80)), Expect::Unknown, 1, "not JSON");
    check(Say::Bytes(events(b"data: \xff\xfe\n\n", 80)), Expect::Unknown, 1, "UTF-8");
    let failed = b"data: {\"type\":\"error\",\"error\":{\"message\":\"overloaded\"}}\n\n";
    check(Say::Bytes(events(failed, 80)), Expect::Unknown, 1, "overloaded");
    let endless = [b"data: ".to_vec(), vec![b'x'; 300 * 1024]].concat();
    check(Say::Bytes(events(&endless, 8_000)), Expect::Unknown, 1, "too long");
    let json = reply("200 OK", "content-type: application/json\r\n", b"{\"content\":[]}");
    check(Say::Bytes(json), Expect::Unknown, 1, "this is not the API");
}

#[test]
fn a_hundred_thousand_empty_lines_do_not_hold_it_up() {
    let body = [b"data:\n".repeat(100_000), b"\n".to_vec()].concat();
    let begun = Instant::now();
    check(Say::Bytes(events(&body, 60_000)), Expect::Unknown, 1, "not JSON");
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

#[test]
fn callers_may_live_in_a_runtime() {
    let server = Fake::always(Say::Bytes(events(OPENAI.as_bytes(), 100)));
    let endpoint = endpoint(Api::OpenAi, &server.url());
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let sent = runtime.block_on(async { send(&endpoint) });
    assert_eq!(sent.result.map(|answer| answer.usage.output), Ok(5));
}

#[test]
fn a_silent_server_is_given_up() {
    let server = Fake::always(Say::AndHang(Vec::new()));
    let mut endpoint = endpoint(Api::OpenAi, &server.url());
    Arc::get_mut(&mut endpoint.gate).expect("alone").times.head = Duration::from_millis(50);
    let sent = send(&endpoint);
    assert!(matches!(&sent.result, Err(ModelError::Unknown { message, .. }) if message.contains("no answer began")));
    assert_eq!((server.heard().len(), sent.rows.last().map(|row| row.outcome.as_str())), (1, Some("unknown")));
}

#[test]
fn a_stream_that_stops_is_given_up_with_what_came() {
    let mut begun = events(ANTHROPIC.as_bytes(), 50);
    begun.truncate(begun.len() * 3 / 4);
    let server = Fake::always(Say::AndHang(begun));
    let mut endpoint = endpoint(Api::Anthropic, &server.url());
    Arc::get_mut(&mut endpoint.gate).expect("alone").times.idle = Duration::from_millis(100);
    let sent = send(&endpoint);
    assert!(matches!(&sent.result, Err(ModelError::Unknown { message, .. }) if message.contains("nothing came")));
    assert!(sent.streamed.starts_with("안녕"), "{}", sent.streamed);
    assert_eq!(server.heard().len(), 1);
}

#[test]
fn a_redirect_is_refused_and_the_key_stays_here() {
    for status in ["301 Moved", "302 Found", "307 There", "308 There"] {
        let other = Fake::always(Say::Bytes(events(ANTHROPIC.as_bytes(), 100)));
        let to = format!("location: {}/v1/messages\r\n", other.url());
        check(
            Say::Bytes(reply(status, &to, b"")),
            Expect::Refused(status[..3].parse().expect("a number")),
            1,
            "127.0.0.1",
        );
        assert_eq!(other.heard().len(), 0);
    }
}

#[test]
fn a_refused_connection_costs_nothing() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port");
    let sent = send(&endpoint(Api::OpenAi, &format!("http://{closed}/v1")));
    assert!(matches!(sent.result, Err(ModelError::Unreachable { .. })), "{:?}", sent.result);
    let last = sent.rows.last().expect("a row");
    assert_eq!((last.outcome.as_str(), last.bytes, last.cost_micro_usd), ("refused", 0, Some(0)));
}

#[test]
fn nothing_is_sent_offline_or_without_a_row() {
    let server = Fake::always(Say::Bytes(events(OPENAI.as_bytes(), 100)));
    let endpoint = endpoint(Api::OpenAi, &server.url());
    let sent = endpoint.send(b"{}", &Cancel::new(), &Full { first: true }, &mut |_| {});
    assert!(matches!(sent, Err(ModelError::NotAllowed { .. })), "{sent:?}");
    assert_eq!(server.heard().len(), 0);
    endpoint.gate.set_offline(true);
    let sent = send(&endpoint);
    assert_eq!(sent.result, Err(ModelError::NotAllowed { reason: "offline".into() }));
    assert_eq!((sent.rows.len(), server.heard().len()), (0, 0));
}

#[test]
fn an_end_that_cannot_be_written_is_not_called_unsent() {
    let server = Fake::always(Say::Bytes(events(OPENAI.as_bytes(), 100)));
    let sent = endpoint(Api::OpenAi, &server.url()).send(b"{}", &Cancel::new(), &Full { first: false }, &mut |_| {});
    assert!(matches!(sent, Err(ModelError::Unknown { .. })), "{sent:?}");
}

#[test]
fn a_cancel_ends_the_call_at_once_and_leaves_it_unknown() {
    let server = Fake::always(Say::AndHang(events(&ANTHROPIC.as_bytes()[..500], 100)));
    let endpoint = endpoint(Api::Anthropic, &server.url());
    let (rows, cancel, begun) = (Rows::default(), Cancel::new(), Instant::now());
    let result = endpoint.send(b"{}", &cancel, &rows, &mut |_| cancel.cancel());
    assert_eq!(result, Err(ModelError::Cancelled));
    assert!(begun.elapsed() < Duration::from_secs(1));
    assert_eq!(
        rows.0.into_inner().expect("not poisoned").last().map(|row| row.outcome.clone()),
        Some("unknown".into())
    );
}

#[test]
fn a_provider_has_a_price_and_a_worst_case() {
    let gate = Arc::new(NetGate::for_tests());
    let target = Target {
        api: Api::Anthropic,
        kind: EndpointKind::Cloud,
        base_url: Api::Anthropic.default_url().into(),
        name: ModelName::new("claude-sonnet-4-5"),
        model: "claude-sonnet-4-5".into(),
        key: None,
        max_output_tokens: 1_000,
        context: 200_000,
    };
    let endpoint = CloudEndpoint::new(gate, target).expect("a good address");
    assert_eq!(CloudReviewer::card(&endpoint).price, Some((3_000_000, 15_000_000)));
    // 1,000 tokens in, 1,000 out, and a tenth.
    assert_eq!(endpoint.worst_case(3_000, 1_000), Some(19_800));
    let unbound = endpoint.sample(&request(Shape::Text, 1), &Cancel::new(), &mut |_| Flow::Continue);
    assert!(matches!(unbound, Err(ModelError::NotAllowed { .. })), "no ledger, no sending: {unbound:?}");
}

fn request(shape: Shape, n: u32) -> SampleRequest {
    let prompt = Prompt { system: "s".into(), user: "u".into(), answer_start: String::new() };
    SampleRequest {
        prompt,
        shape,
        n,
        max_tokens: 100,
        temperature: 0.7,
        greedy_first: true,
        top_p: 0.9,
        top_k: 40,
        seed: 5,
        urgent: false,
        stop: vec![],
    }
}

fn said(text: &str) -> Vec<u8> {
    let delta = serde_json::json!({ "choices": [{ "delta": { "content": text }, "finish_reason": "stop" }] });
    let usage = serde_json::json!({ "choices": [], "usage": { "prompt_tokens": 9, "completion_tokens": 4 } });
    events(format!("data: {delta}\n\ndata: {usage}\n\ndata: [DONE]\n\n").as_bytes(), 33)
}

#[test]
fn each_candidate_is_its_own_request() {
    let server = Fake::start(|_, heard| {
        let body: serde_json::Value = serde_json::from_slice(&heard.body).expect("JSON");
        Say::Bytes(said(&format!("seed {} at {}", body["seed"], body["temperature"])))
    });
    let endpoint = endpoint(Api::OpenAi, &server.url());
    let mut done = 0;
    let mut count = |event: SampleEvent<'_>| {
        done += usize::from(matches!(event, SampleEvent::Done(_)));
        Flow::Continue
    };
    let sampled = endpoint.sample(&request(Shape::Text, 6), &Cancel::new(), &mut count).expect("answers");
    let texts: Vec<&str> = sampled.completions.iter().map(|one| one.text.as_str()).collect();
    assert_eq!(&texts[..2], ["seed 5 at 0.0", "seed 6 at 0.699999988079071"]);
    assert_eq!((texts.len(), done, sampled.usage.input, sampled.usage.output), (6, 6, 54, 24));
    assert_eq!(endpoint.count_tokens("abcdef"), Ok(2));
}

#[test]
fn answers_get_the_agreed_form() {
    let check = |said_text: &str, shape: Shape, start: &str, stop: &str, expected: &str| {
        let server = Fake::always(Say::Bytes(said(said_text)));
        let mut request = request(shape, 1);
        request.prompt.answer_start = start.to_owned();
        request.stop = vec![stop.to_owned()];
        let endpoint = endpoint(Api::OpenAi, &server.url());
        let sampled = endpoint.sample(&request, &Cancel::new(), &mut |_| Flow::Continue).expect("an answer");
        assert_eq!(sampled.completions[0].text, expected);
        assert_eq!(sampled.completions[0].finish, FinishReason::Stop);
    };
    let object = || Shape::Json(serde_json::json!({ "type": "object" }));
    check("Sure:\n```json\n{\"a\": 1}\n```", object(), "", "", "{\"a\":1}");
    check("no JSON here", object(), "", "", "no JSON here");
    check("x = 1\n```\nDone.", Shape::Text, "```python\n", "```", "```python\nx = 1\n");
    check("Here:\n```python\nx = 1\n```", Shape::Text, "```python\n", "\n```", "```python\nx = 1");
    check("plain", Shape::Text, "", "", "plain");
}

#[test]
fn a_schema_becomes_a_tool_or_a_response_format() {
    let schema = serde_json::json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
    let tool = concat!(
        "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"k\\\":\"}}\n\n",
        "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\" 2}\"}}\n\n",
        "data: {\"type\":\"message_stop\"}\n\n",
    );
    let server = Fake::always(Say::Bytes(events(tool.as_bytes(), 9)));
    let endpoint_a = endpoint(Api::Anthropic, &server.url());
    let shape = Shape::Json(schema.clone());
    let sampled = endpoint_a.sample(&request(shape, 1), &Cancel::new(), &mut |_| Flow::Continue).expect("an answer");
    assert_eq!(sampled.completions[0].text, "{\"k\":2}");
    let body: serde_json::Value = serde_json::from_slice(&server.heard()[0].body).expect("JSON");
    assert_eq!((&body["tools"][0]["input_schema"], &body["tool_choice"]["name"]), (&schema, &"answer".into()));

    let server = Fake::always(Say::Bytes(said("{}")));
    let endpoint_o = endpoint(Api::OpenAi, &server.url());
    let shape = Shape::Json(schema.clone());
    endpoint_o.sample(&request(shape, 1), &Cancel::new(), &mut |_| Flow::Continue).expect("an answer");
    let body: serde_json::Value = serde_json::from_slice(&server.heard()[0].body).expect("JSON");
    let form = &body["response_format"]["json_schema"];
    assert_eq!((&form["schema"], &form["strict"]), (&schema, &true.into()));
    let list = Shape::Json(serde_json::json!({ "type": "array" }));
    let refused = endpoint_o.sample(&request(list, 1), &Cancel::new(), &mut |_| Flow::Continue);
    assert!(matches!(refused, Err(ModelError::Shape { .. })));
}

#[test]
fn enough_is_enough_and_one_fault_spares_the_others() {
    let server = Fake::start(|number, _| match number {
        0 => Say::Bytes(reply("400 Bad", "", b"{}")),
        _ => Say::Bytes(said("fine")),
    });
    let endpoint = endpoint(Api::OpenAi, &server.url());
    let sampled =
        endpoint.sample(&request(Shape::Text, 3), &Cancel::new(), &mut |_| Flow::Continue).expect("two answers");
    assert_eq!(sampled.completions.len(), 2);

    let hanging = Fake::start(|number, _| match number {
        0 => Say::Bytes(said("first")),
        _ => Say::AndHang(Vec::new()),
    });
    let mut stop = |event: SampleEvent<'_>| {
        if matches!(event, SampleEvent::Done(_)) { Flow::Stop } else { Flow::Continue }
    };
    let endpoint = self::endpoint(Api::OpenAi, &hanging.url());
    let sampled = endpoint.sample(&request(Shape::Text, 4), &Cancel::new(), &mut stop).expect("one answer");
    assert_eq!(sampled.completions.iter().map(|one| one.text.as_str()).collect::<Vec<_>>(), ["first"]);

    let mut large = request(Shape::Text, 1);
    large.prompt.user = "x".repeat(30_000);
    let refused = endpoint.sample(&large, &Cancel::new(), &mut |_| Flow::Continue);
    assert!(matches!(refused, Err(ModelError::ContextTooLarge { .. })), "{refused:?}");
}
