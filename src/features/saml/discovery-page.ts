import { fill, html, type PageContext, page } from '../../http/pages/html.ts'

/** An organisation that users can choose. */
export interface Choice {
  readonly name: string
  /** Language of the name, where it is known. */
  readonly language: string | undefined
  readonly domain: string | undefined
  /** Where the sign-on continues with it. */
  readonly url: string
}

export interface Discovery {
  /** The address of this page, and what a search must send again. */
  readonly action: string
  readonly fields: Readonly<Record<string, string>>
  /** What was searched for. */
  readonly text: string | undefined
  readonly found: readonly Choice[]
  readonly hasMore: boolean
  /** The last choice of this browser. */
  readonly last: Choice | undefined
}

const choices = (list: readonly Choice[]) =>
  html`<ul class="choices">${list.map(
    ({ name, language, domain, url }) =>
      html`<li><a class="button quiet wide" href="${url}"><span${
        language === undefined ? [] : html` lang="${language}"`
      }>${name}</span>${domain === undefined || domain === name ? [] : html` <small>${domain}</small>`}</a></li>`,
  )}</ul>`

/** A search for the organisation of the user. It needs no script: the search is a form, and each result a link. */
export const discoveryPage = (context: PageContext, state: Discovery): string => {
  const { words } = context
  const { text, found, hasMore, last } = state
  const hidden = Object.entries(state.fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )
  return page(
    context,
    words.chooseOrganisation,
    html`${last === undefined ? [] : html`<h2>${words.lastOrganisation}</h2>${choices([last])}`}
<form method="get" action="${state.action}" role="search">${hidden}
<label class="field"><span>${words.searchOrganisation}</span><input name="q" type="search" autocomplete="organization" maxlength="100" required value="${text ?? ''}" aria-describedby="organisation-hint" autofocus></label>
<p class="hint" id="organisation-hint">${words.searchOrganisationHint}</p>
<button class="button wide">${words.search}</button></form>${
      text === undefined
        ? []
        : html`<p role="status">${
            found.length === 0
              ? words.noOrganisation
              : fill(hasMore ? words.moreOrganisations : words.foundOrganisations, { count: found.length })
          }</p>${choices(found)}`
    }
<p class="aside"><a href="${context.home}">${words.back}</a></p>`,
  )
}
