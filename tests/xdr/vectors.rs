//! Writes a value for every union arm, every enum value, every optional and every list that a root type can hold, in every
//! position in which it can stand. The crate stellar-xdr names the types (its xdr.json, the first argument) and proves each
//! value: it reads the bytes as the root type and writes the same bytes. The other arguments are the root types.
//!
//! Output, one after the other: three variable-length opaques of XDR: root type, label, value. The label names the place and
//! the choice; that of an SCAddress is its strkey.
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::Write;
use std::str::FromStr;
use stellar_xdr::{Limits, Type, TypeVariant, WriteXdr};

const SECONDS: u64 = 1_796_083_200; // 2026-12-01

type Definitions = BTreeMap<String, Value>;

/// A place inside a definition: the field of a struct, the case of a union, or 0 for a typedef.
type Slot = usize;

/// Definitions from the root down to the one that holds the chosen value, each with the slot that leads on.
type Path = Vec<(String, Slot)>;

fn kind(value: &Value) -> &str {
    value["kind"].as_str().expect("kind")
}

fn name(value: &Value) -> &str {
    value["name"].as_str().unwrap_or("")
}

fn list<'a>(value: &'a Value, member: &str) -> &'a Vec<Value> {
    value[member].as_array().expect(member)
}

/// Every case of a union as its number, its name and its arm.
fn cases(union: &Value) -> Vec<(i64, String, &Value)> {
    let mut all = Vec::new();
    for arm in list(union, "arms") {
        for case in list(arm, "cases") {
            let number = case["value"].as_i64().expect("value");
            let text = case["name"].as_str().map_or_else(|| number.to_string(), str::to_string);
            all.push((number, text, arm));
        }
    }
    all
}

/// The types that stand directly in a definition, with their slots and names.
fn slots(definition: &Value) -> Vec<(Slot, String, &Value)> {
    match kind(definition) {
        "struct" => list(definition, "fields").iter().enumerate().map(|(i, f)| (i, name(f).to_string(), &f["type"])).collect(),
        "union" => cases(definition)
            .into_iter()
            .enumerate()
            .filter(|(_, (_, _, arm))| arm.get("type").is_some())
            .map(|(i, (_, _, arm))| (i, name(arm).to_string(), &arm["type"]))
            .collect(),
        "typedef" => vec![(0, String::new(), &definition["type"])],
        _ => Vec::new(),
    }
}

/// The definition that a type refers to, below optionals and lists.
fn referred(of: &Value) -> Option<&str> {
    match kind(of) {
        "ref" => Some(name(of)),
        "optional" | "array" | "var_array" => referred(&of["element"]),
        _ => None,
    }
}

/// Choices at the end of a path: the number of a case or of an enum's value, or how many elements are there.
#[derive(Clone, Copy)]
enum Choice {
    Number(i64),
    Elements(u32),
}

struct Writer<'a> {
    definitions: &'a Definitions,
    /// Bytes of the shortest value of each definition.
    least: HashMap<&'a str, usize>,
    out: Vec<u8>,
    /// Differs in each byte that is free, so that a reader who steps too far or too short does not find zeros.
    fill: u8,
}

impl<'a> Writer<'a> {
    fn new(definitions: &'a Definitions) -> Self {
        let mut writer = Writer { definitions, least: HashMap::new(), out: Vec::new(), fill: 0 };
        // A definition's length is known once those that its shortest value needs are.
        loop {
            let before = writer.least.len();
            for (name, definition) in definitions {
                if let Some(bytes) = writer.definition_bytes(definition) {
                    writer.least.insert(name, bytes);
                }
            }
            if writer.least.len() == before {
                return writer;
            }
        }
    }

    fn type_bytes(&self, of: &Value) -> Option<usize> {
        Some(match kind(of) {
            "ref" => *self.least.get(name(of))?,
            "opaque_fixed" => of["size"].as_u64()? as usize,
            "array" => self.type_bytes(&of["element"])? * of["count"].as_u64()? as usize,
            "hyper" | "unsigned_hyper" => 8,
            "opaque_var" | "string" => 8,
            _ => 4,
        })
    }

    fn definition_bytes(&self, definition: &Value) -> Option<usize> {
        match kind(definition) {
            "struct" => list(definition, "fields").iter().map(|f| self.type_bytes(&f["type"])).sum(),
            "union" => cases(definition).iter().filter_map(|(_, _, arm)| self.arm_bytes(arm)).min(),
            "typedef" => self.type_bytes(&definition["type"]),
            _ => Some(4),
        }
    }

    fn arm_bytes(&self, arm: &Value) -> Option<usize> {
        Some(4 + arm.get("type").map_or(Some(0), |of| self.type_bytes(of))?)
    }

    fn word(&mut self, word: u32) {
        self.out.extend(word.to_be_bytes());
    }

    fn free(&mut self, bytes: usize) {
        for _ in 0..bytes {
            self.fill = self.fill % 251 + 1;
            self.out.push(self.fill);
        }
    }

    fn bytes(&mut self, max: Option<u64>) {
        let len = max.unwrap_or(3).min(3) as usize;
        self.word(len as u32);
        self.out.extend(&b"abc"[..len]);
        self.out.resize(self.out.len().next_multiple_of(4), 0);
    }


    /// Writes a value. The choice is made where the path ends; without one the value is the shortest.
    fn value(&mut self, of: &Value, path: &[(String, Slot)], choice: Option<Choice>) {
        match kind(of) {
            "ref" => self.definition(name(of), path, choice),
            "bool" => self.word(match choice {
                Some(Choice::Number(n)) => n as u32,
                _ => 0,
            }),
            "int" | "unsigned_int" => self.free(4),
            "hyper" | "unsigned_hyper" => self.free(8),
            "opaque_fixed" => self.free(of["size"].as_u64().expect("size") as usize),
            "opaque_var" | "string" => self.bytes(of["max_size"].as_u64()),
            "optional" | "var_array" => {
                let count = match choice {
                    Some(Choice::Elements(n)) if path.is_empty() => n,
                    Some(_) => 1,
                    None => 0,
                };
                self.word(count);
                self.elements(&of["element"], count, path, choice);
            }
            "array" => self.elements(&of["element"], of["count"].as_u64().expect("count") as u32, path, choice),
            other => panic!("a type of kind {other}"),
        }
    }

    /// The first element leads on along the path; the others are the shortest.
    fn elements(&mut self, of: &Value, count: u32, path: &[(String, Slot)], choice: Option<Choice>) {
        for i in 0..count {
            let inner = match choice {
                Some(Choice::Elements(_)) if path.is_empty() => None,
                other if i == 0 => other,
                _ => None,
            };
            self.value(of, if i == 0 { path } else { &[] }, inner);
        }
    }

    fn definition(&mut self, which: &str, path: &[(String, Slot)], choice: Option<Choice>) {
        let definitions = self.definitions;
        // A header's two close times must agree, so times are no free bytes.
        match which {
            "TimePoint" => return self.out.extend(SECONDS.to_be_bytes()),
            "TimePointMs" => return self.out.extend((SECONDS * 1000 + 789).to_be_bytes()),
            _ => {}
        }
        let definition = &definitions[which];
        let slot = path.first().map(|(at, slot)| {
            assert_eq!(at, which);
            *slot
        });
        let rest = if path.is_empty() { path } else { &path[1..] };
        match kind(definition) {
            "struct" => {
                for (i, field) in list(definition, "fields").iter().enumerate() {
                    let leads = slot == Some(i);
                    self.value(&field["type"], if leads { rest } else { &[] }, if leads { choice } else { None });
                }
            }
            "typedef" => self.value(&definition["type"], rest, choice),
            "enum" => {
                let first = list(definition, "members")[0]["value"].as_i64().expect("value");
                self.word(match choice {
                    Some(Choice::Number(n)) => n as u32,
                    _ => first as u32,
                });
            }
            "union" => self.union(definition, slot, rest, choice),
            other => panic!("a definition of kind {other}"),
        }
    }

    fn union(&mut self, union: &Value, slot: Option<Slot>, path: &[(String, Slot)], choice: Option<Choice>) {
        let all = cases(union);
        let (number, _, arm) = match (slot, choice) {
            (Some(slot), _) => &all[slot],
            (None, Some(Choice::Number(n))) => all.iter().find(|(number, _, _)| *number == n).expect("case"),
            _ => all.iter().min_by_key(|(_, _, arm)| self.arm_bytes(arm).unwrap_or(usize::MAX)).expect("arm"),
        };
        self.word(*number as u32);
        if let Some(of) = arm.get("type") {
            let leads = slot.is_some();
            self.value(of, if leads { path } else { &[] }, if leads { choice } else { None });
        }
    }
}

/// The shortest path to each definition below the root, the root's own being empty.
fn paths(definitions: &Definitions, root: &str) -> BTreeMap<String, Path> {
    let mut found = BTreeMap::from([(root.to_string(), Path::new())]);
    let mut queue = VecDeque::from([root.to_string()]);
    while let Some(at) = queue.pop_front() {
        for (slot, _, of) in slots(&definitions[&at]) {
            if let Some(next) = referred(of) {
                if !found.contains_key(next) {
                    let mut path = found[&at].clone();
                    path.push((at.clone(), slot));
                    found.insert(next.to_string(), path);
                    queue.push_back(next.to_string());
                }
            }
        }
    }
    found
}

/// The choices that a type offers, with their names.
fn choices(definitions: &Definitions, of: &Value) -> Vec<(Choice, String)> {
    match kind(of) {
        "bool" => vec![(Choice::Number(0), "false".into()), (Choice::Number(1), "true".into())],
        "optional" => {
            let mut all = vec![(Choice::Elements(1), "present".to_string())];
            all.extend(choices(definitions, &of["element"]));
            all
        }
        "var_array" => {
            let most = of["max_count"].as_u64().unwrap_or(2).min(2) as u32;
            let mut all: Vec<_> = (1..=most).map(|n| (Choice::Elements(n), format!("{n} elements"))).collect();
            all.extend(choices(definitions, &of["element"]));
            all
        }
        "array" => choices(definitions, &of["element"]),
        "ref" => {
            let definition = &definitions[name(of)];
            let union = || cases(definition).into_iter().map(|(n, text, _)| (Choice::Number(n), format!("{} = {text} ({n})", name(of)))).collect();
            match kind(definition) {
                "union" => union(),
                "enum" => list(definition, "members")
                    .iter()
                    .map(|m| (m["value"].as_i64().expect("value"), name(m)))
                    .map(|(n, text)| (Choice::Number(n), format!("{} = {text} ({n})", name(of))))
                    .collect(),
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}

fn put(out: &mut impl Write, bytes: &[u8]) -> std::io::Result<()> {
    out.write_all(&(bytes.len() as u32).to_be_bytes())?;
    out.write_all(bytes)?;
    out.write_all(&[0; 3][..bytes.len().next_multiple_of(4) - bytes.len()])
}

/// Writes one value of the root type, after the crate has read and written it.
fn write_value(out: &mut impl Write, root: &str, label: String, bytes: &[u8]) -> std::io::Result<()> {
    // The crate writes acronyms as words: SCPHistoryEntry is ScpHistoryEntry.
    let variant = TypeVariant::from_str(&root.replace("SC", "Sc").replace("ScP", "Scp")).expect("a type of the crate");
    let read = Type::from_xdr(variant, bytes, Limits::none()).unwrap_or_else(|e| panic!("{label}: {e}"));
    assert_eq!(read.to_xdr(Limits::none()).expect("XDR"), bytes, "{label}");
    put(out, root.as_bytes())?;
    match &read {
        Type::ScAddress(address) => put(out, address.to_string().as_bytes())?,
        _ => put(out, label.as_bytes())?,
    }
    put(out, bytes)
}

fn write_root(out: &mut impl Write, definitions: &Definitions, root: &str) -> std::io::Result<usize> {
    let whole = serde_json::json!({ "kind": "ref", "name": root });
    let mut places = vec![(Path::new(), String::new(), &whole)]; // the root's own choices
    for (at, path) in paths(definitions, root) {
        for (slot, field, of) in slots(&definitions[&at]) {
            let mut path = path.clone();
            path.push((at.clone(), slot));
            places.push((path, format!("{at}.{field}"), of));
        }
    }
    let mut written = 0;
    for (path, place, of) in places {
        for (choice, text) in choices(definitions, of) {
            let mut writer = Writer::new(definitions);
            writer.value(&whole, &path, Some(choice));
            write_value(out, root, format!("{place}: {text}"), &writer.out)?;
            written += 1;
        }
    }
    Ok(written)
}

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let schema: Value = serde_json::from_slice(&std::fs::read(&arguments[1])?).expect("JSON");
    let definitions = list(&schema, "definitions").iter().map(|d| (name(d).to_string(), d.clone())).collect();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for root in &arguments[2..] {
        let written = write_root(&mut out, &definitions, root)?;
        eprintln!("{root}: {written} values");
    }
    out.flush()
}
