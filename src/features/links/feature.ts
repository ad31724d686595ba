import { offer, optionalFeature } from '../../core/feature.ts'
import { contentOrigin } from '../content-origin/feature.ts'
import { zips } from '../zips/feature.ts'
import { linkCodes } from './codes.ts'
import { linkEvents } from './events.ts'
import { capacity, LinkVisits } from './link-visits.ts'
import { linkSteps } from './link-rows.ts'
import { PublicLinks } from './links.ts'
import { linkRoutes } from './routes.ts'
import { linkSettings } from './settings.ts'
import { linkVisitRoutes } from './visit-routes.ts'

export const links = optionalFeature({
  name: 'links',
  settings: linkSettings,
  needs: { zips, contentOrigin },
  schemaSteps: linkSteps,
  tables: [{ name: 'public_links', key: ['id'], since: 25 }],
  codes: linkCodes,
  events: linkEvents,
  capacity,
  routes: [...linkRoutes, ...linkVisitRoutes],
  isOn: ({ settings }) => settings['service.public-links'],
  open: (core, { zips: { zips }, contentOrigin }) => {
    const { database, files } = core
    const links = new PublicLinks({ ...core, secrets: core.sealedSecrets('public link') })
    const linkVisits = new LinkVisits(core)
    if (contentOrigin)
      contentOrigin.origin.shares = {
        reopen: (link, id, client) => linkVisits.reopen(link, id, client),
        recheck: (link, id, client) => linkVisits.recheckLink(link, id, client),
        pathOf: (link, id) => `auth/link/${link}/files/${id}`,
      }
    return {
      offers: [
        ...offer({ links, database }, linkRoutes),
        ...offer({ linkVisits, zips, files, database }, linkVisitRoutes),
      ],
      jobs: [['public links', () => links.expire()]],
    }
  },
})
