// Types for a part of the protocol library. The main entry only adds a warning about the runtime.
declare module 'oidc-provider/lib/provider.js' {
  type Library = typeof import('oidc-provider');
  export const Provider: Library['default'];
}
declare module 'oidc-provider/lib/helpers/errors.js' {
  type Errors = (typeof import('oidc-provider'))['errors'];
  export const InvalidClient: Errors['InvalidClient'];
  export const InvalidGrant: Errors['InvalidGrant'];
  export const InvalidTarget: Errors['InvalidTarget'];
}
declare module 'oidc-provider/lib/helpers/interaction_policy/index.js' {
  type Policy = (typeof import('oidc-provider'))['interactionPolicy'];
  export const Check: Policy['Check'];
  export const Prompt: Policy['Prompt'];
  export const base: Policy['base'];
}
