//! The four ways to make a call.

/// A line over a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binding {
    OldRpc,
    NewRpc,
    OldRest,
    NewRest,
}

pub(crate) const BINDINGS: [Binding; 4] =
    [Binding::OldRpc, Binding::NewRpc, Binding::OldRest, Binding::NewRest];

impl Binding {
    pub(crate) fn is_new(self) -> bool {
        matches!(self, Self::NewRpc | Self::NewRest)
    }

    pub(crate) fn is_rpc(self) -> bool {
        matches!(self, Self::OldRpc | Self::NewRpc)
    }
}
