//! The macros that state keys. What they write out is kept short: the work is done by the functions of `keys`.

/// States a table; see [`keys`](mod@crate::keys).
#[macro_export]
macro_rules! keys {
    (
        $(#[doc = $doc:literal])*
        $vis:vis struct $name:ident $(($short:ident))? = $example:literal {
            $(
                $(#[doc = $fdoc:literal])*
                $(@$flat:ident)? $field:ident : $ty:ty
                $([ $($spec:tt)* ])? $(= $default:expr)? $(=> |$rcx:ident, $rkeys:ident| $follows:expr)?
            ),* $(,)?
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $name {
            $($(#[doc = $fdoc])* pub $field: $ty,)*
        }

        impl $crate::keys::Stated for $name {
            #[allow(unused_mut, unused_variables)]
            fn read(cx: &mut $crate::read::Reader, value: &$crate::read::Value, _: &$crate::keys::Key) -> Self {
                let mut keys = match value.is_text() {
                    $(true => value.short(stringify!($short)),)?
                    _ => value.table(cx, $example),
                };
                $(
                    let key = $crate::keys!(@key stringify!($field), [$($fdoc)*], [$($($spec)*)?]);
                    let $field: $ty = $crate::keys!(@read [$($flat)?] cx, keys, key,
                        $crate::keys!(@default cx, keys $(= $default)? $(=> |$rcx, $rkeys| $follows)?));
                )*
                keys.finish(cx);
                Self { $($field),* }
            }

            fn unknown() -> Self {
                Self { $($field: $crate::keys!(@unknown [$($flat)?] $ty)),* }
            }

            fn lacking(key: &$crate::keys::Key) -> String {
                match key.help {
                    "" => format!("add `{}`: {}", key.name, $example),
                    help => help.into(),
                }
            }

            #[allow(unused_mut)]
            fn write(&self) -> Option<$crate::keys::toml::Value> {
                let mut table = $crate::keys::toml::Table::new();
                $($crate::keys!(@write [$($flat)?] table, self.$field, stringify!($field), $ty $(= $default)?);)*
                Some(table.into())
            }

            fn schema(generator: &mut $crate::keys::SchemaGenerator, key: &$crate::keys::Key) -> $crate::keys::Schema {
                $crate::keys::described(generator.subschema_for::<Self>(), key)
            }

            #[allow(unused_variables)]
            fn grow(&mut self, scale: &$crate::keys::Scale, _: &$crate::keys::Key) {
                $(
                    let key = $crate::keys!(@key stringify!($field), [$($fdoc)*], [$($($spec)*)?]);
                    $crate::keys!(@grow [$($flat)?] self.$field, scale, key);
                )*
            }

            #[allow(unused_variables)]
            fn check(&self, c: &mut $crate::check::Check, path: &str, _: &$crate::keys::Key) {
                $(
                    let key = $crate::keys!(@flagged [$($default)?] [$($rcx)?] $crate::keys!(@key stringify!($field), [$($fdoc)*], [$($($spec)*)?]));
                    $crate::keys!(@check [$($flat)?] self.$field, c, path, key);
                )*
            }

            #[allow(unused_variables)]
            fn rows(rows: &mut $crate::keys::Rows) {
                $(
                    let key = $crate::keys!(@flagged [$($default)?] [$($rcx)?] $crate::keys!(@key stringify!($field), [$($fdoc)*], [$($($spec)*)?]));
                    $crate::keys!(@row [$($flat)?] rows, key, $ty $(= $default)?);
                )*
            }

            fn kind(_: &$crate::keys::Key) -> String {
                "table".into()
            }
        }

        impl $crate::keys::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn schema_id() -> std::borrow::Cow<'static, str> {
                concat!(module_path!(), "::", stringify!($name)).into()
            }

            #[allow(unused_mut, unused_variables)]
            fn json_schema(generator: &mut $crate::keys::SchemaGenerator) -> $crate::keys::Schema {
                let mut table = $crate::keys::TableSchema::new(concat!($($doc, " "),*));
                $(
                    let key = $crate::keys!(@flagged [$($default)?] [$($rcx)?] $crate::keys!(@key stringify!($field), [$($fdoc)*], [$($($spec)*)?]));
                    $crate::keys!(@schema [$($flat)?] table, generator, key, $ty);
                )*
                $(table.short(stringify!($short));)?
                table.finish()
            }
        }

        impl $crate::keys::Serialize for $name {
            fn serialize<S: $crate::keys::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::keys::Serialize::serialize(&$crate::keys::Stated::write(self), serializer)
            }
        }
    };

    (@key $key:expr, [$($doc:literal)*], [$($q:ident)? $(; $($rule:ident $(($($arg:expr),* $(,)?))?),* $(,)?)?]) => {
        $crate::keys::Key::new($key, concat!($($doc, " "),*))
            $(.of($crate::units::Quantity::$q))? $($(.$rule($($($arg),*)?))*)?
    };

    (@flagged [] [] $key:expr) => { $key };
    (@flagged [$default:expr] [] $key:expr) => { $key.optional() };
    (@flagged [] [$follows:ident] $key:expr) => { $key.following() };

    (@default $cx:ident, $keys:ident) => { None };
    (@default $cx:ident, $keys:ident = $default:expr) => { Some($default) };
    (@default $cx:ident, $keys:ident => |$rcx:ident, $rkeys:ident| $follows:expr) => {{
        let ($rcx, $rkeys) = (&*$cx, &$keys);
        $follows
    }};

    (@read [] $cx:ident, $keys:ident, $key:expr, $default:expr) => {{
        let default = $default;
        $crate::keys::read_key($cx, &mut $keys, &$key, default)
    }};
    (@read [flat] $cx:ident, $keys:ident, $key:expr, $default:expr) => {{
        let _: Option<()> = $default;
        $crate::keys::OneOf::read_flat($cx, &mut $keys, $key.help)
    }};

    (@unknown [] $ty:ty) => { <$ty as $crate::keys::Stated>::unknown() };
    (@unknown [flat] $ty:ty) => { <$ty as $crate::keys::OneOf>::none() };

    (@write [] $table:ident, $value:expr, $name:expr, $ty:ty) => {
        $crate::keys::write_key(&mut $table, $name, &$value, None)
    };
    (@write [] $table:ident, $value:expr, $name:expr, $ty:ty = $default:expr) => {
        $crate::keys::write_key::<$ty>(&mut $table, $name, &$value, Some($default))
    };
    (@write [flat] $table:ident, $value:expr, $name:expr, $ty:ty) => {
        $table.insert($crate::keys::OneOf::chosen(&$value).into(), $crate::keys::OneOf::write_inner(&$value))
    };

    (@grow [] $value:expr, $scale:expr, $key:expr) => { $crate::keys::grow_key(&mut $value, $scale, &$key) };
    (@grow [flat] $value:expr, $scale:expr, $key:expr) => { $crate::keys::OneOf::grow_inner(&mut $value, $scale) };

    (@check [] $value:expr, $c:expr, $path:expr, $key:expr) => { $crate::keys::check_key(&$value, $c, $path, &$key) };
    (@check [flat] $value:expr, $c:expr, $path:expr, $key:expr) => {
        $crate::keys::OneOf::check_inner(&$value, $c, $path)
    };

    (@row [] $rows:expr, $key:expr, $ty:ty) => { $rows.add::<$ty>(&$key, None) };
    (@row [] $rows:expr, $key:expr, $ty:ty = $default:expr) => { $rows.add::<$ty>(&$key, Some(&$default)) };
    (@row [flat] $rows:expr, $key:expr, $ty:ty) => { <$ty as $crate::keys::OneOf>::all_rows($rows) };

    (@schema [] $table:ident, $generator:expr, $key:expr, $ty:ty) => { $table.add::<$ty>($generator, &$key) };
    (@schema [flat] $table:ident, $generator:expr, $key:expr, $ty:ty) => { $table.add_flat::<$ty>($generator) };
}

/// States a choice: exactly one of several keys, each with a table in braces or a single value behind it. After `else` may stand what is
/// meant where there is no table.
#[macro_export]
macro_rules! one_of {
    (
        $(#[doc = $doc:literal])*
        $vis:vis enum $name:ident = $help:literal {
            $(
                $(#[doc = $vdoc:literal])*
                $variant:ident = $vkey:literal
                $(/ $example:literal {
                    $(
                        $(#[doc = $fdoc:literal])*
                        $field:ident : $ty:ty
                        $([ $($spec:tt)* ])? $(= $default:expr)? $(=> |$rcx:ident, $rkeys:ident| $follows:expr)?
                    ),* $(,)?
                })?
                $(($inner:ident : $ity:ty $([ $($ispec:tt)* ])?))?
            ),* $(,)?
        }
        $(else $(#[doc = $edoc:literal])* $evariant:ident ($einner:ident : $ety:ty [ $($espec:tt)* ]))?
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq)]
        $vis enum $name {
            $(
                $(#[doc = $vdoc])*
                $variant $({ $($(#[doc = $fdoc])* $field: $ty),* })? $(($ity))?,
            )*
            $($(#[doc = $edoc])* $evariant($ety),)?
        }

        impl $name {
            /// Its key in a scene.
            pub fn key(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $vkey,)*
                    $(Self::$evariant { .. } => stringify!($einner),)?
                }
            }
        }

        impl $crate::keys::OneOf for $name {
            const HELP: &'static str = $help;

            fn names() -> Vec<&'static str> {
                vec![$($vkey),*]
            }

            fn chosen(&self) -> &str {
                self.key()
            }

            #[allow(unused_mut, unused_variables)]
            fn read_as(cx: &mut $crate::read::Reader, name: &'static str, value: &$crate::read::Value) -> Self {
                $(
                    if name == $vkey {
                        let own = $crate::keys!(@key $vkey, [$($vdoc)*], [$($($($ispec)*)?)?]);
                        $(
                            let mut keys = value.table(cx, concat!("write `", $example, "`"));
                            $(
                                let key = $crate::keys!(@key stringify!($field), [$($fdoc)*], [$($($spec)*)?]);
                                let $field: $ty = $crate::keys!(@read [] cx, keys, key,
                                    $crate::keys!(@default cx, keys $(= $default)? $(=> |$rcx, $rkeys| $follows)?));
                            )*
                            keys.finish(cx);
                            return Self::$variant { $($field),* };
                        )?
                        $(
                            let $inner = <$ity as $crate::keys::Stated>::read(cx, value, &own);
                            return Self::$variant($inner);
                        )?
                    }
                )*
                Self::none()
            }

            #[allow(unreachable_code)]
            fn none() -> Self {
                $(
                    return Self::$variant {
                        $($($field: <$ty as $crate::keys::Stated>::unknown()),*)?
                        $(0: <$ity as $crate::keys::Stated>::unknown())?
                    };
                )*
            }

            fn write_inner(&self) -> $crate::keys::toml::Value {
                match self {
                    $(
                        Self::$variant { $($($field),*)? $(0: $inner)? } => {
                            $(
                                #[allow(unused_mut)]
                                let mut table = $crate::keys::toml::Table::new();
                                $($crate::keys!(@write [] table, *$field, stringify!($field), $ty $(= $default)?);)*
                                table.into()
                            )?
                            $($crate::keys::Stated::write($inner).unwrap_or($crate::keys::toml::Value::Array(vec![])))?
                        }
                    )*
                    $(Self::$evariant($einner) => $crate::keys::Stated::write($einner).unwrap_or(f64::NAN.into()),)?
                }
            }

            #[allow(unused_mut, unused_variables)]
            fn schemas(generator: &mut $crate::keys::SchemaGenerator) -> Vec<(&'static str, $crate::keys::Schema)> {
                let mut all = Vec::new();
                $(
                    let own = $crate::keys!(@key $vkey, [$($vdoc)*], [$($($($ispec)*)?)?]);
                    $(
                        let mut table = $crate::keys::TableSchema::new(own.about);
                        let _ = $example;
                        $(
                            let key = $crate::keys!(@flagged [$($default)?] [$($rcx)?] $crate::keys!(@key stringify!($field), [$($fdoc)*], [$($($spec)*)?]));
                            table.add::<$ty>(generator, &key);
                        )*
                        all.push(($vkey, table.finish()));
                    )?
                    $(
                        all.push(($vkey, <$ity as $crate::keys::Stated>::schema(generator, &own)));
                    )?
                )*
                all
            }

            #[allow(unused_variables)]
            fn grow_inner(&mut self, scale: &$crate::keys::Scale) {
                match self {
                    $(
                        Self::$variant { $($($field),*)? $(0: $inner)? } => {
                            let own = $crate::keys!(@key $vkey, [$($vdoc)*], [$($($($ispec)*)?)?]);
                            $($(
                                let key = $crate::keys!(@key stringify!($field), [$($fdoc)*], [$($($spec)*)?]);
                                $crate::keys::grow_key($field, scale, &key);
                            )*)?
                            $(
                                $crate::keys::grow_key($inner, scale, &own);
                            )?
                        }
                    )*
                    $(Self::$evariant($einner) => {
                        let key = $crate::keys!(@key "", [$($edoc)*], [$($espec)*]);
                        $crate::keys::grow_key($einner, scale, &key);
                    })?
                }
            }

            #[allow(unused_variables)]
            fn check_inner(&self, c: &mut $crate::check::Check, path: &str) {
                match self {
                    $(
                        Self::$variant { $($($field),*)? $(0: $inner)? } => {
                            let path = &$crate::keys::join(path, $vkey);
                            let own = $crate::keys!(@key $vkey, [$($vdoc)*], [$($($($ispec)*)?)?]);
                            $($(
                                let key = $crate::keys!(@flagged [$($default)?] [$($rcx)?] $crate::keys!(@key stringify!($field), [$($fdoc)*], [$($($spec)*)?]));
                                $crate::keys::check_key($field, c, path, &key);
                            )*)?
                            $(
                                $crate::keys::Stated::check($inner, c, path, &own);
                            )?
                        }
                    )*
                    $(Self::$evariant($einner) => {
                        let key = $crate::keys!(@key "", [$($edoc)*], [$($espec)*]);
                        $crate::keys::Stated::check($einner, c, path, &key);
                    })?
                }
            }

            #[allow(unused_variables)]
            fn all_rows(rows: &mut $crate::keys::Rows) {
                $(
                    let own = $crate::keys!(@key $vkey, [$($vdoc)*], [$($($($ispec)*)?)?]);
                    $(
                        let _ = $example;
                        rows.table($vkey, own.about, |rows| {
                            $(
                                let key = $crate::keys!(@flagged [$($default)?] [$($rcx)?] $crate::keys!(@key stringify!($field), [$($fdoc)*], [$($($spec)*)?]));
                                $crate::keys!(@row [] rows, key, $ty $(= $default)?);
                            )*
                        });
                    )?
                    $(
                        rows.add::<$ity>(&own.optional(), None);
                    )?
                )*
            }
        }

        impl $crate::keys::Stated for $name {
            #[allow(unreachable_code)]
            fn read(cx: &mut $crate::read::Reader, value: &$crate::read::Value, key: &$crate::keys::Key) -> Self {
                $(
                    if !value.is_table() {
                        let key = $crate::keys!(@key "", [$($edoc)*], [$($espec)*]);
                        return Self::$evariant(<$ety as $crate::keys::Stated>::read(cx, value, &key));
                    }
                )?
                let mut keys = value.table(cx, if key.help.is_empty() { $help } else { key.help });
                let chosen = <Self as $crate::keys::OneOf>::read_flat(cx, &mut keys, key.help);
                keys.finish(cx);
                chosen
            }

            fn unknown() -> Self {
                <Self as $crate::keys::OneOf>::none()
            }

            fn write(&self) -> Option<$crate::keys::toml::Value> {
                let inner = $crate::keys::OneOf::write_inner(self);
                $(if let Self::$evariant { .. } = self {
                    let _ = stringify!($einner);
                    return Some(inner);
                })?
                Some($crate::keys::toml::Table::from_iter([(self.key().to_owned(), inner)]).into())
            }

            fn schema(generator: &mut $crate::keys::SchemaGenerator, key: &$crate::keys::Key) -> $crate::keys::Schema {
                let schema = generator.subschema_for::<Self>();
                $(
                    let own = $crate::keys!(@key "", [$($edoc)*], [$($espec)*]);
                    let single = <$ety as $crate::keys::Stated>::schema(generator, &own);
                    let schema = $crate::keys::either(single, schema);
                )?
                $crate::keys::described(schema, key)
            }

            fn grow(&mut self, scale: &$crate::keys::Scale, _: &$crate::keys::Key) {
                $crate::keys::OneOf::grow_inner(self, scale);
            }

            fn check(&self, c: &mut $crate::check::Check, path: &str, _: &$crate::keys::Key) {
                $crate::keys::OneOf::check_inner(self, c, path);
            }

            fn rows(rows: &mut $crate::keys::Rows) {
                <Self as $crate::keys::OneOf>::all_rows(rows);
            }

            fn kind(_: &$crate::keys::Key) -> String {
                let names = <Self as $crate::keys::OneOf>::names();
                format!("one of {}", names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", "))
            }
        }

        impl $crate::keys::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn schema_id() -> std::borrow::Cow<'static, str> {
                concat!(module_path!(), "::", stringify!($name)).into()
            }

            fn json_schema(generator: &mut $crate::keys::SchemaGenerator) -> $crate::keys::Schema {
                let mut table = $crate::keys::TableSchema::new(concat!($($doc, " "),*));
                table.add_flat::<Self>(generator);
                table.finish()
            }
        }

        impl $crate::keys::Serialize for $name {
            fn serialize<S: $crate::keys::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::keys::Serialize::serialize(&$crate::keys::Stated::write(self), serializer)
            }
        }
    };
}
