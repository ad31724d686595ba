import { visible } from '../lib/text.ts'

/** A message of the service or of another program, which is in English whatever the language of the page. */
export const English = ({ children }: { readonly children: string }) => <span lang="en">{visible(children)}</span>
