// Form field for a new password on the pages of invitation and reset links.
import { html, type Html } from '../../../kernel/html/html.ts';
import { passwordMax, passwordMin } from './password-rules.ts';

/** Renders a field with the name `password`. */
export const newPasswordField = (label: string): Html =>
  html`<label
    >${label}<small>At least ${passwordMin} characters, such as a few random words.</small
    ><input
      type="password"
      name="password"
      autocomplete="new-password"
      minlength="${passwordMin}"
      maxlength="${passwordMax}"
      required
  /></label>`;
