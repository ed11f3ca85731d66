//! The wire form of fields that serde does not know: addresses as text, bytes as base64. Each
//! module is named by a `#[serde(with = …)]`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Bytes that travel as base64.
struct Base64(Vec<u8>);

impl Serialize for Base64 {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Base64 {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Base64, D::Error> {
        let text = String::deserialize(from)?;
        STANDARD.decode(text).map(Base64).map_err(de::Error::custom)
    }
}

impl Base64 {
    fn sixteen<E: de::Error>(self) -> Result<[u8; 16], E> {
        self.0.try_into().map_err(|_| E::custom("16 bytes were expected"))
    }
}

pub mod url {
    use ::url::Url;

    use super::*;

    pub fn serialize<S: Serializer>(url: &Url, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(url.as_str())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Url, D::Error> {
        Url::parse(&String::deserialize(from)?).map_err(de::Error::custom)
    }
}

pub mod optional_url {
    use ::url::Url;

    use super::*;

    pub fn serialize<S: Serializer>(url: &Option<Url>, to: S) -> Result<S::Ok, S::Error> {
        url.as_ref().map(Url::as_str).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Url>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        text.map(|text| Url::parse(&text).map_err(de::Error::custom)).transpose()
    }
}

pub mod urls {
    use ::url::Url;

    use super::*;

    pub fn serialize<S: Serializer>(urls: &[Url], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(urls.iter().map(Url::as_str))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Url>, D::Error> {
        let texts = Vec::<String>::deserialize(from)?;
        texts.iter().map(|text| Url::parse(text).map_err(de::Error::custom)).collect()
    }
}

pub mod domain {
    use feed::Domain;

    use super::*;

    pub fn serialize<S: Serializer>(domain: &Domain, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(domain.as_str())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Domain, D::Error> {
        Ok(Domain::from_stored(&String::deserialize(from)?))
    }
}

pub mod hash {
    use super::*;

    pub fn serialize<S: Serializer>(hash: &[u8; 16], to: S) -> Result<S::Ok, S::Error> {
        Base64(hash.to_vec()).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<[u8; 16], D::Error> {
        Base64::deserialize(from)?.sixteen()
    }
}

pub mod optional_hash {
    use super::*;

    pub fn serialize<S: Serializer>(hash: &Option<[u8; 16]>, to: S) -> Result<S::Ok, S::Error> {
        hash.map(|hash| Base64(hash.to_vec())).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<[u8; 16]>, D::Error> {
        Option::<Base64>::deserialize(from)?.map(Base64::sixteen).transpose()
    }
}

pub mod validators {
    use feed::Validators;

    use super::*;

    #[derive(Deserialize, Serialize)]
    struct ValidatorFields {
        etag: Option<Base64>,
        last_modified: Option<Base64>,
    }

    pub fn serialize<S: Serializer>(given: &Validators, to: S) -> Result<S::Ok, S::Error> {
        let etag = given.etag.clone().map(Base64);
        let last_modified = given.last_modified.clone().map(Base64);
        ValidatorFields { etag, last_modified }.serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Validators, D::Error> {
        let ValidatorFields { etag, last_modified } = ValidatorFields::deserialize(from)?;
        let [etag, last_modified] = [etag, last_modified].map(|field| field.map(|bytes| bytes.0));
        Ok(Validators { etag, last_modified })
    }
}

pub mod window {
    use std::sync::Arc;

    use feed::Window;

    use super::*;

    pub fn serialize<S: Serializer>(window: &Window, to: S) -> Result<S::Ok, S::Error> {
        Base64(window.encode()).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<Window>, D::Error> {
        let bytes = Base64::deserialize(from)?.0;
        Window::decode(&bytes).map(Arc::new).map_err(de::Error::custom)
    }
}

pub mod optional_window {
    use std::sync::Arc;

    use feed::Window;

    use super::*;

    pub fn serialize<S: Serializer>(
        window: &Option<Arc<Window>>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        window.as_ref().map(|window| Base64(window.encode())).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Arc<Window>>, D::Error> {
        let bytes = Option::<Base64>::deserialize(from)?;
        let window = bytes.map(|bytes| Window::decode(&bytes.0).map(Arc::new));
        window.transpose().map_err(de::Error::custom)
    }
}

pub mod bytes {
    use super::*;

    pub fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        Base64(bytes.to_vec()).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        Ok(Base64::deserialize(from)?.0)
    }
}

pub mod optional_bytes {
    use super::*;

    pub fn serialize<S: Serializer>(bytes: &Option<Vec<u8>>, to: S) -> Result<S::Ok, S::Error> {
        bytes.clone().map(Base64).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<u8>>, D::Error> {
        Ok(Option::<Base64>::deserialize(from)?.map(|bytes| bytes.0))
    }
}

pub mod keyed_items {
    use feed::{EntryKey, Item, KeyedItem};

    use super::*;

    #[derive(Deserialize, Serialize)]
    struct KeyedItemFields {
        #[serde(with = "hash")]
        key: [u8; 16],
        content: u64,
        link: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        item: Option<Item>,
    }

    pub fn serialize<S: Serializer>(items: &[KeyedItem], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(items.iter().map(|keyed| KeyedItemFields {
            key: *keyed.key.bytes(),
            content: keyed.content,
            link: keyed.link,
            item: keyed.item.clone(),
        }))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<KeyedItem>, D::Error> {
        let items = Vec::<KeyedItemFields>::deserialize(from)?;
        let keyed = items.into_iter().map(|KeyedItemFields { key, content, link, item }| {
            KeyedItem { key: EntryKey::from_bytes(key), content, link, item }
        });
        Ok(keyed.collect())
    }
}

pub mod raw_answer {
    use std::net::IpAddr;

    use feed::RawAnswer;

    use super::*;

    #[derive(Deserialize, Serialize)]
    struct RawAnswerFields {
        request: Base64,
        head: Base64,
        remote: Option<IpAddr>,
        body: Option<Base64>,
    }

    pub fn serialize<S: Serializer>(
        raw: &Option<Box<RawAnswer>>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let fields = raw.as_deref().map(|raw| RawAnswerFields {
            request: Base64(raw.request.clone()),
            head: Base64(raw.head.clone()),
            remote: raw.remote,
            body: raw.body.clone().map(Base64),
        });
        fields.serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Box<RawAnswer>>, D::Error> {
        let fields = Option::<RawAnswerFields>::deserialize(from)?;
        Ok(fields.map(|RawAnswerFields { request, head, remote, body }| {
            let (request, head, body) = (request.0, head.0, body.map(|body| body.0));
            Box::new(RawAnswer { request, head, remote, body })
        }))
    }
}
